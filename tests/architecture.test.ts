import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const TOP = fileURLToPath(new URL('..', import.meta.url));

interface Source {
  /** From the top of the repo, with slashes. */
  readonly file: string;
  readonly text: string;
  /** The same without comments. */
  readonly code: string;
  /** `fence` of `src/fence/root.ts`; the file's own name for one directly in src/. */
  readonly layer: string;
  readonly imports: readonly string[];
}

/** What each layer may import, besides itself and packages. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  runtime: ['errors'],
  fence: ['errors', 'runtime'],
  search: ['errors', 'runtime', 'fence', 'files'],
  files: ['errors', 'runtime', 'fence', 'search'],
  agent: ['errors', 'runtime', 'fence', 'search', 'files'],
  wire: ['errors', 'runtime', 'files'],
  tools: ['errors', 'runtime', 'fence', 'search', 'files', 'agent', 'wire'],
  dialects: ['errors', 'runtime', 'fence', 'search', 'files', 'agent', 'wire', 'tools'],
  audit: ['errors', 'agent', 'tools'],
  config: ['errors', 'fence', 'tools', 'audit'],
  server: ['errors', 'runtime', 'fence', 'search', 'files', 'agent', 'wire', 'tools', 'dialects', 'audit', 'config'],
  cli: ['errors', 'fence', 'files', 'agent', 'tools', 'dialects', 'audit', 'config', 'server'],
  // The two entry points.
  bin: ['cli'],
  index: ['errors', 'fence', 'files', 'agent', 'tools', 'dialects', 'audit', 'config', 'server'],
};

const BELOW_DIALECTS = ['errors', 'runtime', 'fence', 'search', 'files', 'agent', 'wire', 'tools'];
const MAY_TOUCH_FILES = ['fence', 'config', 'audit'];
/** Reads what the build compiled. */
const KERNEL_LOADER = 'src/runtime/wasm-kernel.ts';

const sources = readSources(path.join(TOP, 'src'));
const compiled = sources.filter(({ file }) => !file.endsWith('.test.ts'));

/** Fails with all that is wrong, not only the first. */
function expectNone(wrong: readonly string[]): void {
  expect(wrong).toEqual([]);
}

describe('imports flow one way', () => {
  test('every file belongs to a known layer', () => {
    expect(compiled.length).toBeGreaterThan(10);
    expectNone(compiled.filter(({ layer }) => !(layer in MAY_IMPORT)).map(({ file }) => file));
  });

  test('each layer imports only the layers below it', () => {
    const wrong = compiled.flatMap((source) =>
      localImports(source)
        .map(layerOf)
        .filter((layer) => layer !== source.layer && !MAY_IMPORT[source.layer]?.includes(layer))
        .map((layer) => `${source.file} imports ${layer}`),
    );
    expectNone(wrong);
  });

  test('no dialect imports another', () => {
    const dialectOf = (file: string) => /^src\/dialects\/([^/]+)\//.exec(file)?.[1];
    const wrong = compiled.flatMap((source) => {
      const own = dialectOf(source.file);
      return localImports(source)
        .filter((file) => own !== undefined && dialectOf(file) !== undefined && dialectOf(file) !== own)
        .map((file) => `${source.file} imports ${file}`);
    });
    expectNone(wrong);
  });

  test('no source imports a test or anything outside src/', () => {
    const wrong = compiled.flatMap((source) =>
      localImports(source)
        .filter((file) => file.endsWith('.test.ts') || !file.startsWith('src/'))
        .map((file) => `${source.file} imports ${file}`),
    );
    expectNone(wrong);
  });

  test('only fence, config and audit import the file system', () => {
    const wrong = compiled
      .filter(({ file, layer }) => !MAY_TOUCH_FILES.includes(layer) && file !== KERNEL_LOADER)
      .flatMap(({ file, imports }) =>
        imports.filter((name) => /^(node:)?fs(\/|$)/.test(name)).map((name) => `${file} imports ${name}`),
      );
    // Types say nothing about what a module does.
    expectNone(wrong.filter((line) => !isTypeOnly(line)));
  });

  test('built-in modules are imported by their node: name', () => {
    const wrong = compiled.flatMap(({ file, imports }) =>
      imports
        .filter((name) => /^(fs|path|os|crypto|http|net|util|url|stream|events)(\/|$)/.test(name))
        .map((n) => `${file} imports ${n}`),
    );
    expectNone(wrong);
  });

  test('errors.ts imports nothing', () => {
    expect(compiled.find(({ file }) => file === 'src/errors.ts')?.imports).toEqual([]);
  });
});

describe('names', () => {
  test('nothing below the dialects knows one by name', () => {
    const dialects = fs.readdirSync(path.join(TOP, 'src/dialects'), { withFileTypes: true });
    const names = dialects.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
    expect(names).toContain('workspace');
    // A whole string, or a word that starts an identifier of its own (`workspaceTools`, `WorkspaceError`).
    const known = new RegExp(
      `['"\`](${names.join('|')})['"\`]|\\b(${names.join('|')})(?=Dialect|Tools?\\b|Errors?\\b)`,
      'i',
    );
    const wrong = compiled
      .filter(({ layer }) => BELOW_DIALECTS.includes(layer))
      .flatMap(({ file, code }) => {
        const found = known.exec(code);
        return found === null ? [] : [`${file} says ${found[0]}`];
      });
    expectNone(wrong);
  });

  test('files are in kebab-case and none is a drawer for odds and ends', () => {
    const names = sources.map(({ file }) => file);
    expectNone(names.filter((file) => !/^src(\/[a-z0-9]+(-[a-z0-9]+)*)+(\.[a-z]+)*\.ts$/.test(file)));
    expectNone(names.filter((file) => /(^|[/-])(utils?|helpers?|common|manager|misc)([/.-]|$)/.test(file)));
  });

  test('there are no default exports', () => {
    expectNone(
      compiled.filter(({ code }) => /\bexport\s+default\b|\bas\s+default\b/.test(code)).map(({ file }) => file),
    );
  });

  test('whatever does not confine says why that is safe wherever it is called', () => {
    const wrong = compiled.flatMap(({ file, text }) => {
      const lines = text.split('\n');
      return lines.flatMap((line, i) => {
        const isCall = /\b\w+Unconfined\s*\(/.test(line) && !/\bfunction\b|^\s*(\*|\/\/)/.test(line);
        const said = lines.slice(Math.max(0, i - 3), i + 1).some((near) => near.includes('// SAFETY:'));
        return isCall && !said ? [`${file}:${i + 1}`] : [];
      });
    });
    expectNone(wrong);
  });
});

function readSources(top: string): Source[] {
  return fs
    .readdirSync(top, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !/(^|[\\/])assembly[\\/]/.test(name))
    .sort()
    .map((name) => {
      const file = `src/${name.split(path.sep).join('/')}`;
      const text = fs.readFileSync(path.join(top, name), 'utf8');
      const code = withoutComments(text);
      return { file, text, code, layer: layerOf(file), imports: importsOf(code) };
    });
}

function layerOf(file: string): string {
  return /^src\/([^/]+?)(\.ts|\/)/.exec(file)?.[1] ?? file;
}

/** Comments that take up whole lines: enough for code in this style, and strings with slashes stay whole. */
function withoutComments(text: string): string {
  return text.replace(/^\s*\/\*[\s\S]*?\*\/\s*$/gm, '').replace(/^\s*\/\/.*$/gm, '');
}

function importsOf(code: string): string[] {
  const statements = /^\s*(?:import|export)\b(?!\s+type\b)[^'";]*?\bfrom\s*'([^']+)'|^\s*import\s*'([^']+)'/gm;
  const typeStatements = /^\s*(?:import|export)\s+type\b[^'";]*?\bfrom\s*'([^']+)'/gm;
  const calls = /\b(?:import|require)\(\s*'([^']+)'\s*\)/g;
  const found = [statements, typeStatements, calls].flatMap((pattern) =>
    [...code.matchAll(pattern)].map((match) => {
      const name = match[1] ?? match[2] ?? '';
      return pattern === typeStatements && /^(node:)?fs(\/|$)/.test(name) ? `${name} (types)` : name;
    }),
  );
  return found;
}

function isTypeOnly(line: string): boolean {
  return line.endsWith('(types)');
}

/** Relative imports as files from the top of the repo. */
function localImports({ file, imports }: Source): string[] {
  return imports.filter((name) => name.startsWith('.')).map((name) => path.posix.join(path.posix.dirname(file), name));
}
