import { expect, test } from 'vitest';
import { growth } from '../../runtime/growth.fixture.ts';
import { IgnoreFile } from './gitignore.ts';

/** Whether rules ignore a path, which is a folder if it ends in a slash. */
function ignores(rules: string, path: string): boolean | undefined {
  const names = path.replace(/\/$/, '').split('/');
  return new IgnoreFile(rules).ignores(names.slice(0, -1), names.at(-1) as string, path.endsWith('/'));
}

test.each<[rules: string, ignored: string[], others: string[]]>([
  ['a', ['a', 'a/', 'x/a', 'x/y/a/'], ['b', 'ab']],
  ['a/', ['a/', 'x/a/'], ['a', 'x/a']],
  ['/a', ['a', 'a/'], ['x/a']],
  ['a/b', ['a/b'], ['x/a/b', 'b']],
  ['**/a/b', ['a/b', 'x/a/b', 'x/y/a/b'], ['a/x/b']],
  ['a/**', ['a/b', 'a/b/c'], ['a/', 'x/a/b']],
  ['**\\/**', ['a/b', 'a/b/c'], ['a', 'a/']],
  ['x/**\\/b', ['x/a/b'], ['x/b', 'x/a/c/b']],
  ['a/**/b', ['a/b', 'a/x/b', 'a/x/y/b'], ['a/x', 'x/a/b']],
  ['*.log', ['a.log', '.log', 'x/y.log'], ['log', 'a.logs']],
  ['a*b?c', ['abxc', 'a/abbbc'.slice(2)], ['abc', 'a/bxc']],
  ['[a-c]x', ['ax', 'cx'], ['dx', '-x']],
  ['[!a]x', ['bx'], ['ax', 'x']],
  ['[]a]', [']', 'a'], ['b']],
  ['x[', ['x['], ['x']],
  ['*.{js,ts}', ['a.js', 'x/a.ts'], ['a.{js,ts}', 'a.md']],
  ['# a\n\\#a\n\\!a', ['#a', '!a'], ['a', '# a', '\\#a']],
  ['a  \nb\\ \n', ['a', 'b '], ['a  ', 'b']],
  ['a\\*', ['a*'], ['ab']],
  ['a\r\n\r\nb\r\n', ['a', 'b'], ['\r']],
  ['\ufeffa', ['a'], []],
  ['?', ['a'], ['é']],
  ['é*', ['é1'], ['e1']],
])('rules %j', (rules, ignored, others) => {
  for (const path of ignored) expect(ignores(rules, path), path).toBe(true);
  for (const path of others) expect(ignores(rules, path), path).toBeUndefined();
});

test('the last rule that matches decides', () => {
  expect(ignores('*.log\n!a.log', 'a.log')).toBe(false);
  expect(ignores('!a.log\n*.log', 'a.log')).toBe(true);
  expect(ignores('a.log\n!*.log\na.log/', 'a.log')).toBe(false);
  expect(ignores('a.log\n!*.log\na.log/', 'a.log/')).toBe(true);
});

test.each([
  ['stars', (size: number) => `${'*a'.repeat(size)}*b`],
  ['stars and classes', (size: number) => `${'*[a]?'.repeat(size)}*b`],
  ['folders at any depth', (size: number) => `${'**/a/'.repeat(2 * size)}b`],
  ['alternatives', (size: number) => '{a,b}'.repeat(10 * size)],
  ['open braces', (size: number) => `${'{'.repeat(60 * size)}a`],
])('a hostile rule takes time in proportion to its length: %s', (_, rule) => {
  const path = Array.from({ length: 250 }, () => 'a').join('/');
  const ask = (size: number) => {
    expect(ignores(rule(size), 'a'.repeat(255))).toBeUndefined();
    expect(ignores(rule(size), path)).toBeUndefined();
  };
  expect(growth(10, ask)).toBeLessThan(40);
});

test.each([
  ['brackets that are not closed', `${'['.repeat(4_095)}\n`],
  ['brackets after a class', `[]]${'[^'.repeat(2_000)}\n`],
  ['braces before a long text', `{${'a,'.repeat(100)}b}${'[x]'.repeat(1_200)}\n`],
  ['many alternatives', `{${Array.from({ length: 200 }, (_, i) => `*${i}`).join(',')}}${'y'.repeat(2_000)}\n`],
  ['the same name', 'a\n'],
])('a rule file full of %s is parsed in a moment', (_what, line) => {
  const rules = line.repeat(Math.floor((256 * 1024) / line.length));
  const started = performance.now();
  new IgnoreFile(rules);
  // Without a bound on what rules expand to, these take up to 17 seconds.
  expect(performance.now() - started).toBeLessThan(1_000);
});

test('rules that expand to too many characters have no effect, and those after them neither', () => {
  const long = `{a,b}${'x'.repeat(2_000)}\n`.repeat(200);
  expect(ignores(`first\n${long}last`, 'first')).toBe(true);
  expect(ignores(`first\n${long}last`, 'last')).toBeUndefined();
  expect(ignores(`${`{a,b}${'x'.repeat(2_000)}\n`.repeat(20)}last`, 'last')).toBe(true);
});

test('only so many rules of a file have an effect', () => {
  const many = Array.from({ length: 5_000 }, (_, index) => `n${index}`).join('\n');
  expect(ignores(`${many}\nlast`, 'n4999')).toBe(true);
  expect(ignores(`${many}\nlast`, 'last')).toBeUndefined();
});
