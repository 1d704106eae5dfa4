// npm run bench [-- GROUP… --quick|--full]
import fs from 'node:fs';
import { parseArgs } from 'node:util';
import { bench } from './bench.js';
import { GROUPS } from './groups/index.js';
import { machine } from './machine.js';
import { SCALES } from './scales.js';
import { table } from './table.js';

const RESULTS = new URL('./results/latest.json', import.meta.url);

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean' }, full: { type: 'boolean' } },
});
const unknown = positionals.filter((name) => !Object.hasOwn(GROUPS, name));
if (unknown.length > 0) {
  console.error(`no group ${unknown.join(', ')}; groups are ${Object.keys(GROUPS).join(', ')}`);
  process.exit(2);
}
const scaleName = values.full ? 'full' : values.quick ? 'quick' : 'standard';
const scale = SCALES[scaleName];
const groups = positionals.length > 0 ? positionals : Object.keys(GROUPS);

// Leave through the exit handlers, which end the servers and remove what was written.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

const { rows, data } = await bench({
  scale,
  groups,
  onGroup: (measured) => {
    const ratios = measured.map(({ ratio }) => ratio.toFixed(2)).join(', ');
    process.stderr.write(`measured ${measured[0].group}: ${ratios}\n`);
  },
});
const facts = machine();
const sizes = Object.entries(data).map(([name, { bytes }]) =>
  bytes ? `${name} (${Math.round(bytes / 1e6)} MB)` : name,
);

console.log(`\nRatios of time, ours to the other's: best of ${scale.rounds} interleaved rounds, lower is better.`);
console.log(
  `Data (${scaleName}): ${sizes.join(', ')}. Node ${facts.node}, ${facts.platform} ${facts.kernel}, ${facts.cores} cores.\n`,
);
console.log(table(rows));

if (positionals.length === 0) {
  fs.mkdirSync(new URL('.', RESULTS), { recursive: true });
  fs.writeFileSync(
    RESULTS,
    `${JSON.stringify({ machine: facts, scale: scaleName, rounds: scale.rounds, data, rows }, null, 2)}\n`,
  );
  console.log('\nWritten to bench/results/latest.json.');
}
const wrong = rows.filter(({ agrees }) => !agrees).length;
if (wrong > 0) {
  console.error(`\n${wrong} rows with a wrong result.`);
  process.exitCode = 1;
}
