import fs from 'node:fs';
import path from 'node:path';

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const beyond = (i: number): string => String.fromCodePoint(0x100 + i);

/** A large program that stays busy on `long.txt`: `count` threads for every character. Each number makes another one. */
export function slowPattern(number = 0, count = 19): string {
  const alternative = (_: unknown, i: number): string =>
    `${LETTERS[(i + number) % LETTERS.length]}.{${990 - number}}${beyond(i)}`;
  return Array.from({ length: count }, alternative).join('|');
}

/** Regular expressions that take, or took, long to refuse, to compile or to match. */
export const REGEX_BOMBS: Readonly<Record<string, string>> = {
  '1,000 alternatives of .{990}': Array(1_000).fill('.{990}').join('|'),
  '1,000 different alternatives of .{990}': slowPattern(0, 1_000),
  '19 different alternatives of .{990}': slowPattern(),
  'operators without operands': '+('.repeat(20_000),
  'open groups': '('.repeat(30_000),
  'nested groups': `${'('.repeat(30_000)}${')'.repeat(30_000)}`,
  'nested optional groups': `${'(?:'.repeat(300)}a${')?'.repeat(300)}b`,
  '30,000 alternatives': Array.from({ length: 30_000 }, (_, i) => LETTERS[i % 26]).join('|'),
  '9,000 words': Array.from({ length: 9_000 }, (_, i) => `w${i}`).join('|'),
  'x{1000}{1000}': 'x{1000}{1000}',
  'nested repetitions': '(?:(?:a{9}){9}){9}b'.repeat(20),
  'optional repetitions': `${'x{0,900}'.repeat(9)}y`,
  '\\p{L}{1000}': '\\p{L}{1000}[0-9]',
  'case-insensitive classes': '(?i)[\\p{L}\\p{N}]{500}[ā-ſ]',
  'case-insensitive ranges': `(?i)[${`${beyond(0)}-\u{1e900}`.repeat(10_000)}]`,
  '13,000 named classes': `[${'\\p{L}'.repeat(13_000)}]`,
  'states that do not pay off': '[a-m]*a[a-z]{500}[0-9]',
  'a long literal': `${'a'.repeat(30_000)}b${'a'.repeat(30_000)}`,
  'a literal of 1 MB': 'a'.repeat(1_000_000),
};

/** Rules that take, or took, long to parse or to compare a name with. */
const RULES: Readonly<Record<string, string>> = {
  'open-brackets': `${'['.repeat(4_000)}\n`.repeat(60),
  'long-alternatives': `{${'a,'.repeat(100)}b}${'[x]'.repeat(1_200)}\n`.repeat(60),
  'many-steps': `*${'?'.repeat(120)}b*\n`.repeat(2_000),
};

/** The folders with hostile ignore rules that `layBombs` makes. */
export const RULE_FOLDERS: readonly string[] = Object.keys(RULES).map((name) => `rules/${name}`);

/**
 * Writes files that keep a search busy: `bombs/long.txt`, one line of 3 MB; `bombs/same.txt`, one line of 2 MB of one letter;
 * and the folders of `RULE_FOLDERS`. Beside them, `small` has 200 small files with "needle" in each.
 */
export function layBombs(folder: string): void {
  write(folder, 'bombs/long.txt', randomLetters(3_000_000));
  write(folder, 'bombs/same.txt', Buffer.alloc(2_000_000, 'a'));
  for (const [name, rules] of Object.entries(RULES)) {
    write(folder, `rules/${name}/.gitignore`, rules);
    for (let i = 0; i < 300; i += 1) write(folder, `rules/${name}/${'a'.repeat(240)}${i}`, 'needle\n');
  }
  for (let i = 0; i < 200; i += 1) write(folder, `small/${i}.txt`, `some text\nneedle ${i}\n`);
}

/** Letters without a period, which would let a DFA use its states again. */
function randomLetters(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let seed = 7;
  for (let i = 0; i < length; i += 1) {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[i] = LETTERS.charCodeAt(Math.floor((seed / 2 ** 32) * LETTERS.length));
  }
  return bytes;
}

function write(folder: string, name: string, content: string | Buffer): void {
  const file = path.join(folder, name);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, content);
}
