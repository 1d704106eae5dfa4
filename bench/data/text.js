import { NEEDLES } from '../needles.js';

const WORDS =
  'account action address agent amount array batch block buffer cache call channel chunk client code config connection context count cursor data date default delete device driver edge element entry error event factory field file filter flag format frame group handle handler header index input item job key label layer length level line link list load lock log map match message method mode model module name network node number object offset option order output owner page parent parse patch path pattern payload peer pool port process profile queue range reader record region remote render report request reset resource response result retry role root route row rule scope search section segment sender server service session setting shape signal size slot socket source stack stage start state status step store stream string subject table tag target task team template thread ticket time token total trace type update user value vector version view weight window worker writer zone'.split(
    ' ',
  );
const ACCENTED = ['Größe', 'naïve', 'café', '日本語', 'señal', '→', '“quoted”'];
const capital = (word) => word[0].toUpperCase() + word.slice(1);

/** A word for names of files and folders. */
export const word = (random) => random.pick(WORDS);

function identifier(random) {
  const first = word(random);
  return random.chance(0.6) ? first + capital(word(random)) : first;
}

const STATEMENTS = [
  (r) => `const ${identifier(r)} = ${identifier(r)}.${identifier(r)}(${identifier(r)}, ${r.below(1000)});`,
  (r) => `if (${identifier(r)} === undefined || ${identifier(r)}.length > ${r.below(64)}) {`,
  (r) => `return ${identifier(r)}.map((${word(r)}) => ${identifier(r)}(${word(r)}));`,
  (r) => `// ${prose(r, 9)}`,
  (r) => `throw new ${capital(identifier(r))}Error('${prose(r, 5)}');`,
  (r) => `this.${identifier(r)} = await ${identifier(r)}.${identifier(r)}({ ${word(r)}, ${word(r)}: ${r.below(9)} });`,
  (r) => `export function ${identifier(r)}(${word(r)}: ${capital(word(r))}, ${word(r)}: number): void {`,
  () => '}',
  () => '',
];

function prose(random, words) {
  const text = Array.from({ length: words }, () => (random.chance(0.01) ? random.pick(ACCENTED) : word(random)));
  return text.join(' ');
}

/** A pool of passages of 4 to 24 lines, each line ended, that files are put together from. */
export function passages(random, count) {
  return Array.from({ length: count }, () => {
    const isCode = random.chance(0.8);
    const lines = Array.from({ length: 4 + random.below(21) }, () =>
      isCode ? '  '.repeat(random.below(4)) + random.pick(STATEMENTS)(random) : prose(random, 6 + random.below(9)),
    );
    return Buffer.from(`${lines.join('\n')}\n`);
  });
}

/** Lines that the benchmark's patterns find, each pattern in its turn. */
export function needleLines(random) {
  let next = 0;
  return () => {
    const { sample, ownLine } = NEEDLES[next++ % NEEDLES.length];
    const text = sample(random);
    return Buffer.from(ownLine ? `  ${text}\n` : `  ${word(random)} ${text} ${word(random)}\n`);
  };
}

/** The part of a log line after its time and number. */
export function logMessages(random, count) {
  const levels = ['DEBUG', 'INFO', 'INFO', 'INFO', 'WARN', 'ERROR'];
  return Array.from({ length: count }, () => {
    const place = `${random.pick(levels)} [${word(random)}-${word(random)}]`;
    return `${place} ${prose(random, 4 + random.below(5))} ${word(random)}=${random.below(100_000)} took=${random.below(5000)}ms\n`;
  });
}
