import fs from 'node:fs';
import path from 'node:path';
import { Random } from '../data/random.js';

const MODULES = 36;
const LOG_LINES = 5_000;
const WORDS =
  'order invoice ledger account payment refund basket customer address stock shipment carrier parcel price'.split(' ');

/** The files that the tasks name. */
export const PROJECT = {
  log: 'logs/app.log',
  /** Has the only TODO. */
  todo: 'src/billing/invoice-7.ts',
  /** Five files use this function. */
  symbol: 'computeTotal',
  users: [0, 6, 12, 18, 24].map((index) => moduleName(index)),
  several: [1, 2, 3, 4, 5].map((index) => moduleName(index)),
  moved: 'docs/draft.md',
};

/** Writes a small project, the same every time. */
export function makeProject(top) {
  const random = new Random(13);
  const write = (name, text) => {
    const file = path.join(top, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
  };
  write(
    'package.json',
    `${JSON.stringify({ name: 'shop', version: '1.4.2', type: 'module', scripts: { test: 'node --test' } }, null, 2)}\n`,
  );
  write('README.md', `# Shop\n\n${Array.from({ length: 30 }, () => sentence(random)).join('\n')}\n`);
  write('docs/design.md', `# Design\n\n${Array.from({ length: 60 }, () => sentence(random)).join('\n')}\n`);
  write(PROJECT.moved, `# Draft\n\n${sentence(random)}\n`);
  for (let index = 0; index < MODULES; index++) {
    write(moduleName(index), moduleText(random, index));
    if (index % 3 === 0) write(`tests/${path.basename(moduleName(index), '.ts')}.test.ts`, testText(random, index));
  }
  write(PROJECT.log, Array.from({ length: LOG_LINES }, (_, index) => logLine(random, index)).join(''));
}

function moduleName(index) {
  const folder = ['billing', 'store', 'shipping'][index % 3];
  return index === 7 ? 'src/billing/invoice-7.ts' : `src/${folder}/${WORDS[index % WORDS.length]}-${index}.ts`;
}

function moduleText(random, index) {
  const name = WORDS[index % WORDS.length];
  const lines = [`import { log } from '../log.ts';`];
  if (PROJECT.users.includes(moduleName(index))) {
    lines.push(`import { ${PROJECT.symbol} } from '../totals.ts';`, '');
    lines.push(`export const total${index} = (lines) => ${PROJECT.symbol}(lines, '${name}');`);
  }
  for (let part = 0; part < 6; part++) {
    const [noun, other] = [random.pick(WORDS), random.pick(WORDS)];
    lines.push(
      '',
      `/** ${sentence(random)} */`,
      `export function ${noun}${part}Of${index}(${other}, { limit = ${random.below(900)} } = {}) {`,
    );
    lines.push(
      `  log.debug("${noun} of ${other}", { limit });`,
      `  const found = ${other}.filter((entry) => entry.${noun} > limit);`,
    );
    if (moduleName(index) === PROJECT.todo && part === 3) lines.push('  // TODO: sort by date, newest first');
    lines.push(`  return found.map((entry) => entry.${noun} * ${1 + random.below(9)});`, '}');
  }
  return `${lines.join('\n')}\n`;
}

function testText(random, index) {
  const lines = [`import { test } from 'node:test';`, `import assert from 'node:assert';`, ''];
  for (let part = 0; part < 3; part++) {
    lines.push(
      `test('${sentence(random)}', () => {`,
      `  assert.equal(${index} + ${part}, ${index + part});`,
      '});',
      '',
    );
  }
  return lines.join('\n');
}

const sentence = (random) => Array.from({ length: 6 + random.below(9) }, () => random.pick(WORDS)).join(' ');

function logLine(random, index) {
  const time = new Date(Date.UTC(2026, 0, 1) + index * 1_700).toISOString();
  const level = random.chance(0.02) ? 'ERROR' : 'INFO';
  return `${time} ${level} request ${index} ${random.pick(WORDS)} took ${random.below(400)} ms "GET /${random.pick(WORDS)}/${index}"\n`;
}
