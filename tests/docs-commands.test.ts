import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CommandHelp, unknownScript, usesIn } from './support/docs/command-lines.ts';
import { itemsOf, PAGES, pageText } from './support/docs/doc-pages.ts';
import { DocWorld } from './support/docs/doc-world.ts';
import { runDirective, TRIES } from './support/docs/run-block.ts';
import { exchangesOf } from './support/docs/transcript.ts';
import { recordFigure } from './support/figures.ts';

/** What a command may need that a test cannot have. A note names one of these as its reason. */
const NEEDED = /^syntax only, needs (?:a client|docker|the registry|root and systemd|a browser|a domain)(?:: .+)?$/;
/** Which test runs the programs on a page. */
const PROGRAMS: Readonly<Record<string, string>> = {
  'CONTRIBUTING.md': 'tests/docs-programs.test.ts',
  'docs/bridge.md': 'tests/bridge-docs.test.ts',
  'docs/guide.md': 'tests/docs-programs.test.ts',
  'docs/memory.md': 'tests/docs-programs.test.ts',
  'docs/library.md': 'tests/library.test.ts',
  'src/fence/README.md': 'tests/library.test.ts',
  'src/search/README.md': 'tests/docs-programs.test.ts',
};
/** Languages with a test of their own. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  nginx: 'tests/docs-proxies.test.ts',
  haproxy: 'tests/docs-proxies.test.ts',
  caddyfile: 'tests/docs-proxies.test.ts',
};

const help = new CommandHelp();
const all = PAGES.map((page) => ({ page, items: itemsOf(pageText(page)) })).filter(({ items }) => items.length > 0);

describe.each(all)('$page', ({ page, items }) => {
  let world: DocWorld;
  beforeAll(async () => {
    world = await DocWorld.open();
  });
  afterAll(() => world[Symbol.asyncDispose]());

  for (const item of items) {
    if (item.kind === 'directive') {
      test(`line ${item.line}: ${item.name} ${item.argument}`, () => runDirective(item, world), 90_000);
      continue;
    }
    const { line, language, text, note } = item;
    const [first = ''] = text.split('\n');
    test(`line ${line}: ${language} ${note === undefined ? '' : `(${note}) `}${first.trim().slice(0, 80)}`, async ({
      skip,
    }) => {
      if (note?.startsWith('syntax only')) expect(note).toMatch(NEEDED);
      if (language === 'js' || language === 'ts')
        expect(PROGRAMS, 'no test runs the programs of this page').toHaveProperty([page]);
      else if (ELSEWHERE[language] === undefined) {
        expect(TRIES, `no test can try a block of ${language}`).toHaveProperty([language]);
        const reason = await TRIES[language]?.(item, world);
        if (typeof reason === 'string') skip(reason);
      }
      if (language !== 'sh' && language !== 'console') return;
      const commands = language === 'sh' ? [text] : exchangesOf(text).map(({ command }) => command);
      expect(await help.firstUnknown(commands.flatMap(usesIn))).toBeUndefined();
      expect(unknownScript(text)).toBeUndefined();
    }, 90_000);
  }
});

test.each(PAGES)('%s names no command or option in its text that does not exist', async (page) => {
  const spans = [...pageText(page).matchAll(/`(ringfence [a-z][^`\n]*)`/g)].map(([, span = '']) => span);
  expect(await help.firstUnknown(spans.flatMap(usesIn))).toBeUndefined();
});

test('every test that is named for a page or a language exists', async () => {
  const { existsSync } = await import('node:fs');
  for (const name of Object.values({ ...PROGRAMS, ...ELSEWHERE })) expect(existsSync(name), name).toBe(true);
});

test('how many blocks are run, and how many are only checked', () => {
  const blocks = all.flatMap(({ items }) => items.flatMap((item) => (item.kind === 'block' ? [item] : [])));
  const unrun = blocks.filter(({ note }) => note?.startsWith('syntax only'));
  recordFigure('docs: blocks that are run, loaded or connected to', blocks.length - unrun.length, 'blocks');
  recordFigure('docs: blocks of which only the syntax and options are checked', unrun.length, 'blocks');
  expect(unrun.length).toBeLessThan(blocks.length / 4);
});
