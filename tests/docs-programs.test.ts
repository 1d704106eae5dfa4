import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { itemsOf, pageText, TOP } from './support/docs/doc-pages.ts';
import { tempDir } from './support/temp-dir.ts';

/** Names that a program on a page takes from its surroundings. */
const SURROUNDINGS: Readonly<Record<string, string>> = {
  'docs/memory.md': `
    declare const client: import('@anthropic-ai/sdk').default;
    declare const model: string;
    declare const messages: import('@anthropic-ai/sdk/resources/beta').BetaMessageParam[];
    declare const memory: ReturnType<typeof import('ringfence').createMemoryTool>;
    declare const block: { id: string; input: unknown };
    declare const results: { type: 'tool_result'; tool_use_id: string; content: string }[];`,
  'docs/guide.md': 'declare const server: { createMessage(params: object, options: object): Promise<any> };',
  'src/search/README.md': '',
};

/** A checkout of this repository without its history, in which the samples of CONTRIBUTING.md are files. */
let checkout: string;
beforeAll(() => {
  checkout = tempDir('ringfence-programs-');
  for (const name of ['src', 'tests', 'dist', 'package.json', 'tsconfig.json'])
    fs.cpSync(path.join(TOP, name), path.join(checkout, name), { recursive: true });
  fs.mkdirSync(path.join(checkout, 'node_modules'));
  for (const name of fs.readdirSync(path.join(TOP, 'node_modules')))
    fs.symlinkSync(path.join(TOP, 'node_modules', name), path.join(checkout, 'node_modules', name));
  fs.symlinkSync(checkout, path.join(checkout, 'node_modules/ringfence'));
});
afterAll(() => fs.rmSync(checkout, { recursive: true, force: true }));

function programsOf(page: string): string[] {
  return itemsOf(pageText(page)).flatMap((item) =>
    item.kind === 'block' && /^[jt]s$/.test(item.language) ? [item.text] : [],
  );
}

/** Returns what the compiler says about files of the checkout. */
function problemsIn(files: readonly string[]): string {
  const own = { extends: './tsconfig.json', compilerOptions: { skipLibCheck: true }, include: [], files };
  fs.writeFileSync(path.join(checkout, 'tsconfig.samples.json'), JSON.stringify(own));
  const tsc = path.join(TOP, 'node_modules/typescript/bin/tsc');
  const { stdout } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.samples.json'], {
    cwd: checkout,
    encoding: 'utf8',
  });
  return stdout;
}

test.each(Object.entries(SURROUNDINGS))(
  'the programs of %s compile',
  (page, surroundings) => {
    const files = programsOf(page).map((text, index) => {
      const name = `sample-${page.replaceAll(/\W/g, '-')}-${index}.ts`;
      // A name that the program declares itself is not one of its surroundings.
      const given = surroundings.split('\n').filter((line) => {
        const declared = /declare const (\w+)/.exec(line)?.[1];
        return declared === undefined || !text.includes(`const ${declared} `);
      });
      fs.writeFileSync(path.join(checkout, name), `${given.join('\n')}\n${text}\nexport {};\n`);
      return name;
    });
    expect(files.length).toBeGreaterThan(0);
    expect(problemsIn(files)).toBe('');
  },
  60_000,
);

test('the tool that CONTRIBUTING.md adds compiles, in the places that it names', () => {
  const page = pageText('CONTRIBUTING.md');
  const places = [...page.matchAll(/here `((?:src|tests)\/\S+\.ts)`/g)].map(([, place = '']) => place);
  const programs = programsOf('CONTRIBUTING.md');
  expect(places).toHaveLength(programs.length);
  for (const [index, text] of programs.entries()) fs.writeFileSync(path.join(checkout, places[index] as string), text);
  // Step 3 of the recipe.
  const capabilities = path.join(checkout, 'src/tools/capabilities.ts');
  const before = fs.readFileSync(capabilities, 'utf8');
  fs.writeFileSync(capabilities, before.replace("'write_file',", "'write_file',\n  'touch_file',"));
  expect(problemsIn(places)).toBe('');
  fs.writeFileSync(capabilities, before);
  expect(problemsIn(places)).toContain('touch_file');
}, 60_000);
