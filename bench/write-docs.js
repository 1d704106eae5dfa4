import fs from 'node:fs';
import { chart } from './chart.js';
import { dataInWords } from './figures.js';
import { EMPTY } from './peers/empty.js';
import { REFERENCE } from './peers/reference.js';
import { RIPGREP } from './peers/ripgrep.js';
import { SHA256SUM } from './peers/sha256sum.js';
import { asMarkdown, curveTable, loadTable, ratioTable, slowerTable } from './table.js';

const PAGE = new URL('../docs/performance.md', import.meta.url);
const PICTURE = new URL('../docs/performance.svg', import.meta.url);

/** What is compared with a limit, or with ourselves, is no peer. */
const PEERS = [REFERENCE, EMPTY, RIPGREP, `${RIPGREP} --files`, SHA256SUM];
const isSlower = ({ against, ratio }) => PEERS.includes(against) && ratio > 1;

/** Groups whose figures stand for themselves, each in a section of its own. */
export const SECTIONS = ['first-call', 'history', 'lease', 'tokens'];

/** Puts figures between the marks of the page: those of a whole run, if there is one, with its picture, and those of single groups. */
export function writeDocs(whole, groups) {
  const parts = whole === undefined ? {} : partsOf(whole);
  for (const [group, results] of Object.entries(groups)) {
    if (results !== undefined) parts[group] = `${measuredOn(results)}\n\n${asMarkdown(ratioTable(results.rows))}`;
  }
  let page = fs.readFileSync(PAGE, 'utf8');
  for (const [name, text] of Object.entries(parts)) {
    const marks = new RegExp(`(<!-- figures:${name} -->\n)[\\s\\S]*?(<!-- /figures -->)`);
    if (!marks.test(page)) throw new Error(`docs/performance.md has no place for the figures "${name}"`);
    page = page.replace(marks, (_, begin, end) => `${begin}\n${text}\n\n${end}`);
  }
  fs.writeFileSync(PAGE, page);
  if (whole !== undefined) fs.writeFileSync(PICTURE, chart(whole));
}

function partsOf(whole) {
  const { scale, data, curves, loads } = whole;
  const rows = whole.rows.filter(({ group }) => !SECTIONS.includes(group));
  return {
    machine: `${measuredOn(whole)} Data (${scale}): ${dataInWords(data)}.`,
    ratios: asMarkdown(ratioTable(rows)),
    slower: asMarkdown(slowerTable(rows.filter(isSlower))),
    growth: asMarkdown(curveTable(curves)),
    clients: asMarkdown(loadTable(loads)),
  };
}

const measuredOn = ({ machine, rounds }) =>
  `Measured on ${machine.date}: Node ${machine.node}, ${machine.platform}, Linux ${machine.kernel}, ` +
  `${machine.cores} cores, ${machine.cpu}, ${machine.memoryGiB} GiB. Best of ${rounds} interleaved rounds.`;
