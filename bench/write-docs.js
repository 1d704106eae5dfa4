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

/** Puts the figures of a whole run between the marks of the page, and draws its picture. */
export function writeDocs({ machine, scale, rounds, data, rows, curves, loads }) {
  const parts = {
    machine:
      `Measured on ${machine.date}: Node ${machine.node}, ${machine.platform}, Linux ${machine.kernel}, ` +
      `${machine.cores} cores, ${machine.cpu}, ${machine.memoryGiB} GiB. Data (${scale}): ${dataInWords(data)}. Best of ${rounds} interleaved rounds.`,
    ratios: asMarkdown(ratioTable(rows)),
    slower: asMarkdown(slowerTable(rows.filter(isSlower))),
    growth: asMarkdown(curveTable(curves)),
    clients: asMarkdown(loadTable(loads)),
  };
  let page = fs.readFileSync(PAGE, 'utf8');
  for (const [name, text] of Object.entries(parts)) {
    const marks = new RegExp(`(<!-- figures:${name} -->\n)[\\s\\S]*?(<!-- /figures -->)`);
    if (!marks.test(page)) throw new Error(`docs/performance.md has no place for the figures "${name}"`);
    page = page.replace(marks, (_, begin, end) => `${begin}\n${text}\n\n${end}`);
  }
  fs.writeFileSync(PAGE, page);
  fs.writeFileSync(PICTURE, chart({ curves, loads }));
}
