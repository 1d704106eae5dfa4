// npm run bench [-- GROUP… --quick|--standard|--full]   measures
// npm run bench -- --docs                               writes the last whole run, and the groups that have a section of
//                                                       their own, into docs/performance.md
import fs from 'node:fs';
import { parseArgs } from 'node:util';
import { bench } from './bench.js';
import { CACHE } from './data.js';
import { dataInWords } from './figures.js';
import { GROUPS } from './groups/index.js';
import { machine } from './machine.js';
import { SCALES } from './scales.js';
import { asText, curveTable, loadTable, ratioTable } from './table.js';
import { SECTIONS, writeDocs } from './write-docs.js';

const RESULTS = new URL('./results/latest.json', import.meta.url);
const resultsOf = (group) => new URL(`./results/${group}.json`, import.meta.url);

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean' },
    standard: { type: 'boolean' },
    full: { type: 'boolean' },
    docs: { type: 'boolean' },
  },
});
const unknown = positionals.filter((name) => !Object.hasOwn(GROUPS, name));
if (unknown.length > 0) {
  console.error(`no group ${unknown.join(', ')}; groups are ${Object.keys(GROUPS).join(', ')}`);
  process.exit(2);
}
// Leave through the exit handlers, which end the servers and remove what was written.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

if (values.docs) writeAll();
else await measure();

function writeAll() {
  const read = (url) => (fs.existsSync(url) ? JSON.parse(fs.readFileSync(url, 'utf8')) : undefined);
  writeDocs(read(RESULTS), Object.fromEntries(SECTIONS.map((group) => [group, read(resultsOf(group))])));
}

async function measure() {
  const scaleName = values.quick ? 'quick' : values.standard ? 'standard' : 'full';
  const scale = SCALES[scaleName];
  const { rows, curves, loads, data } = await bench({
    scale,
    groups: positionals.length > 0 ? positionals : Object.keys(GROUPS),
    onGroup: (measured) => {
      const ratios = measured.map(({ ratio }) => ratio.toFixed(2)).join(', ');
      process.stderr.write(`measured ${measured[0].group}: ${ratios}\n`);
    },
  });
  const facts = machine();
  console.log(
    `\nRatios of time, memory or characters, ours to the other's: best of ${scale.rounds} interleaved rounds, lower is better.`,
  );
  console.log(`Data (${scaleName}), kept in ${CACHE}: ${dataInWords(data)}.`);
  console.log(`Node ${facts.node}, ${facts.platform} ${facts.kernel}, ${facts.cores} cores.\n`);
  console.log(asText(ratioTable(rows)));
  if (curves.length > 0) console.log(`\nHow cost grows\n${asText(curveTable(curves))}`);
  if (loads.length > 0) console.log(`\nClients at once\n${asText(loadTable(loads))}`);

  fs.mkdirSync(new URL('.', RESULTS), { recursive: true });
  for (const group of SECTIONS) {
    const own = rows.filter((row) => row.group === group);
    const results = { machine: facts, rounds: scale.rounds, rows: own };
    if (own.length > 0) fs.writeFileSync(resultsOf(group), `${JSON.stringify(results, null, 2)}\n`);
  }
  // Of the others, only whole runs are kept: figures of different moments do not compare.
  if (positionals.length === 0) {
    const results = { machine: facts, scale: scaleName, rounds: scale.rounds, data, rows, curves, loads };
    fs.writeFileSync(RESULTS, `${JSON.stringify(results, null, 2)}\n`);
    console.log('\nWritten to bench/results/latest.json.');
  }
  const wrong = rows.filter(({ agrees }) => !agrees).length;
  if (wrong > 0) {
    console.error(`\n${wrong} rows with a wrong result.`);
    process.exitCode = 1;
  }
}
