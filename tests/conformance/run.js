// Runs all conformance suites in all revisions against the real server and the fixtures, and prints a table: npm run conformance
// npm run conformance -- --install only installs them, so that `npm test` runs a part.
import { EXPECTED } from './expected.js';
import { install, isInstalled, runSuite, SUITES, TARGETS } from './suite.js';

if (!isInstalled()) install();
if (process.argv.includes('--install')) process.exit();

const rows = [['suite', 'server', 'protocol', 'scenarios', 'checks passed', 'expected', 'unexpected']];
const unexpected = [];
const seen = new Set();
for (const [target, { start }] of Object.entries(TARGETS)) {
  const server = await start();
  try {
    for (const [suite, revisions] of Object.entries(SUITES)) {
      for (const revision of revisions) {
        const result = await runSuite({ suite, revision, target, url: server.url });
        for (const key of result.expected) seen.add(`${suite} ${key}`);
        for (const problem of result.unexpected) unexpected.push(`${suite} ${target} ${revision}: ${problem}`);
        const counts = [result.scenarios, result.passed, result.expected.length, result.unexpected.length];
        rows.push([suite, target, revision, ...counts.map(String)]);
      }
    }
  } finally {
    await server.stop();
  }
}

const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
const print = (line) => process.stdout.write(`${line}\n`);
const format = (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`;
print(format(rows[0]));
print(`| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`);
for (const row of rows.slice(1)) print(format(row));

print('\nExpected, with the reason:');
for (const [suite, reasons] of Object.entries(EXPECTED)) {
  for (const [key, reason] of Object.entries(reasons)) {
    print(`- ${suite} ${key}: ${reason}`);
    if (!seen.has(`${suite} ${key}`)) unexpected.push(`${suite}: ${key} is expected, but did not occur`);
  }
}
if (unexpected.length > 0) print(`\nUnexpected:\n${unexpected.map((problem) => `- ${problem}`).join('\n')}`);
process.exitCode = unexpected.length > 0 || rows.length === 1 ? 1 : 0;
