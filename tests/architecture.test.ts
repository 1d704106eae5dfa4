import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const TOP = fileURLToPath(new URL('..', import.meta.url));

interface Source {
  /** From the top of the repo, with slashes. */
  readonly file: string;
  readonly text: string;
  /** The text without comments that take up whole lines. */
  readonly code: string;
  /** `fence` of `src/fence/root.ts`; the file's own name for one directly in src/. */
  readonly layer: string;
  readonly imports: readonly Import[];
}

interface Import {
  readonly name: string;
  readonly typeOnly: boolean;
  /** Whether the module is loaded only when the code that imports it runs. */
  readonly lazy: boolean;
}

const BELOW_DIALECTS = [
  'errors.ts',
  'runtime',
  'fence',
  'search',
  'history',
  'files',
  'undo',
  'agent',
  'wire',
  'tools',
];

/** What each folder of src/, and each file directly in it, may import besides itself and packages. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'errors.ts': [],
  runtime: ['errors.ts'],
  fence: ['errors.ts', 'runtime'],
  search: ['errors.ts', 'runtime', 'fence'],
  history: ['errors.ts', 'runtime', 'fence'],
  files: ['errors.ts', 'runtime', 'fence', 'history'],
  undo: ['errors.ts', 'runtime', 'fence', 'history', 'files'],
  review: ['runtime', 'fence', 'history', 'files', 'undo'],
  agent: ['errors.ts', 'runtime', 'fence', 'search', 'files'],
  wire: ['runtime'],
  client: ['runtime'],
  doctor: ['errors.ts', 'runtime', 'fence', 'files', 'tools', 'config', 'hardening'],
  tools: ['errors.ts', 'runtime', 'fence', 'search', 'history', 'files', 'undo', 'agent', 'wire'],
  dialects: ['errors.ts', 'runtime', 'fence', 'search', 'history', 'files', 'undo', 'agent', 'wire', 'tools'],
  audit: ['errors.ts', 'runtime', 'agent', 'tools'],
  config: ['fence', 'history', 'files', 'tools', 'audit'],
  cluster: ['errors.ts', 'runtime'],
  processes: ['runtime'],
  hardening: ['runtime', 'tools', 'config'],
  server: [
    'errors.ts',
    'runtime',
    'fence',
    'search',
    'history',
    'files',
    'undo',
    'review',
    'agent',
    'wire',
    'tools',
    'audit',
    'config',
    'cluster',
  ],
  cli: [
    'errors.ts',
    'runtime',
    'fence',
    'history',
    'files',
    'undo',
    'review',
    'wire',
    'tools',
    'dialects',
    'audit',
    'config',
    'cluster',
    'hardening',
    'processes',
    'server',
    'client',
    'doctor',
  ],
  // The entry points of the package.
  'bin.ts': ['cli'],
  'index.ts': [...BELOW_DIALECTS, 'dialects', 'audit', 'config', 'server'],
  'fence.ts': ['errors.ts', 'runtime', 'fence', 'files'],
  'search.ts': ['errors.ts', 'runtime', 'fence', 'search'],
};

/** Layers that may use `node:fs`: nothing else touches files, and these do not touch those of a root except through the fence. */
const MAY_TOUCH_FILES = ['fence', 'config', 'audit', 'hardening', 'doctor'];
/** Reads what the build compiled. */
const KERNEL_LOADER = 'src/runtime/wasm-kernel.ts';
/** Reads and writes the config files of other programs, and reads what a person names on the command line: none is in a root. */
const PERSONS_FILES = ['src/cli/install/client-file.ts', 'src/cli/call/argument-file.ts'];

const sources = readSources(path.join(TOP, 'src'));
const compiled = sources.filter(({ file }) => !/\.(test|fixture)\.ts$/.test(file));

describe('imports flow one way', () => {
  test('every file belongs to a known layer', () => {
    const unknown = (files: readonly string[]) => files.filter((file) => !(layerOf(file) in MAY_IMPORT));
    expect(unknown(['src/new/x.ts', 'src/fence/x.ts'])).toEqual(['src/new/x.ts']);
    expect(compiled.length).toBeGreaterThan(100);
    expect(unknown(compiled.map(({ file }) => file))).toEqual([]);
  });

  test('each layer imports only the layers below it', () => {
    expect(upwardImports([source('src/fence/x.ts', "import { a } from '../server/y.ts';")])).toHaveLength(1);
    expect(upwardImports([source('src/fence/x.ts', "const a = await import('../server/y.ts');")])).toHaveLength(1);
    expect(upwardImports([source('src/server/x.ts', "import { a } from '../fence/y.ts';")])).toEqual([]);
    expect(upwardImports(compiled)).toEqual([]);
  });

  test('each layer uses every import that it is allowed', () => {
    expect(unusedPermissions([source('src/runtime/x.ts', "import { a } from '../errors.ts';")])).not.toContain(
      'runtime may import errors.ts',
    );
    expect(unusedPermissions([])).toContain('runtime may import errors.ts');
    expect(unusedPermissions(compiled)).toEqual([]);
  });

  test('no two folders import each other, directly or in a circle, at any depth', () => {
    const circle = [
      source('src/a/b/x.ts', "import { y } from '../c/y.ts';"),
      source('src/a/c/y.ts', "import { z } from '../z.ts';"),
      source('src/a/z.ts', "import { x } from './b/x.ts';"),
    ];
    expect(circles(folderEdges(circle))).toEqual([['src/a', 'src/a/b', 'src/a/c']]);
    expect(circles(folderEdges(circle.slice(1)))).toEqual([]);
    const edges = folderEdges(compiled);
    expect(edges.size).toBeGreaterThan(30);
    expect(circles(edges)).toEqual([]);
  });

  test('no two files import each other, directly or in a circle, for types or values', () => {
    const circle = [
      source('src/a/x.ts', "import type { Y } from './y.ts';"),
      source('src/a/y.ts', "export { z } from '../b/z.ts';"),
      source('src/b/z.ts', "const x = await import('../a/x.ts');"),
    ];
    expect(circles(fileEdges(circle))).toEqual([['src/a/x.ts', 'src/a/y.ts', 'src/b/z.ts']]);
    expect(circles(fileEdges(circle.slice(1)))).toEqual([]);
    const edges = fileEdges(compiled);
    expect(edges.size).toBeGreaterThan(100);
    expect(circles(edges)).toEqual([]);
  });

  test('no dialect imports another', () => {
    const dialectOf = (file: string) => /^src\/dialects\/([^/]+)\//.exec(file)?.[1];
    const foreign = (all: readonly Source[]) =>
      all.flatMap((one) => {
        const own = dialectOf(one.file);
        return localImports(one)
          .filter((file) => own !== undefined && dialectOf(file) !== undefined && dialectOf(file) !== own)
          .map((file) => `${one.file} imports ${file}`);
      });
    expect(foreign([source('src/dialects/a/x.ts', "import { y } from '../b/y.ts';")])).toHaveLength(1);
    expect(foreign(compiled)).toEqual([]);
  });

  test('no source imports a test or anything outside src/', () => {
    const wrong = (all: readonly Source[]) =>
      all.flatMap((one) =>
        localImports(one)
          .filter((file) => /\.(test|fixture)\.ts$/.test(file) || !file.startsWith('src/'))
          .map((file) => `${one.file} imports ${file}`),
      );
    expect(wrong([source('src/a/x.ts', "import { y } from './y.test.ts';")])).toHaveLength(1);
    expect(wrong([source('src/a/x.ts', "import { y } from '../../tests/y.ts';")])).toHaveLength(1);
    expect(wrong(compiled)).toEqual([]);
  });

  test('unit tests use nothing of tests/ but what starts a process or makes a temporary folder', () => {
    const SHARED = /^tests\/support\/(child|redis|temp-dir)\.ts$/;
    const wrong = (all: readonly Source[]) =>
      all.flatMap((one) =>
        localImports(one)
          .filter((file) => file.startsWith('tests/') && !SHARED.test(file))
          .map((file) => `${one.file} imports ${file}`),
      );
    expect(wrong([source('src/a/x.test.ts', "import { y } from '../../tests/support/fixture.ts';")])).toHaveLength(1);
    expect(wrong(sources)).toEqual([]);
  });

  test('only fence, config, audit and hardening use the file system', () => {
    const wrong = (all: readonly Source[]) =>
      all
        .filter(
          ({ file, layer }) => !MAY_TOUCH_FILES.includes(layer) && ![KERNEL_LOADER, ...PERSONS_FILES].includes(file),
        )
        .flatMap(({ file, imports }) =>
          imports.filter(({ name, typeOnly }) => !typeOnly && /^(node:)?fs(\/|$)/.test(name)).map(() => file),
        );
    expect(wrong([source('src/files/x.ts', "import fs from 'node:fs';")])).toHaveLength(1);
    expect(wrong([source('src/files/x.ts', "import type { Stats } from 'node:fs';")])).toEqual([]);
    expect(wrong(compiled)).toEqual([]);
  });

  test('the libraries load neither the protocol, its schemas nor the logger', () => {
    const LIBRARIES = ['errors.ts', 'runtime', 'fence', 'search', 'files', 'fence.ts', 'search.ts'];
    const wrong = (all: readonly Source[]) =>
      all
        .filter(({ layer }) => LIBRARIES.includes(layer))
        .flatMap(({ file, imports }) =>
          imports
            .filter(({ name }) => /^(@modelcontextprotocol|zod|pino|commander|yaml)\b/.test(name))
            .map(({ name }) => `${file} imports ${name}`),
        );
    expect(wrong([source('src/search/x.ts', "import * as z from 'zod';")])).toHaveLength(1);
    expect(wrong(compiled)).toEqual([]);
  });

  test('a start over stdio loads neither schemas, patterns, YAML nor the SDK', () => {
    const START = ['src/bin.ts', 'src/cli/stdio.ts'];
    const eager = [
      source('src/bin.ts', "import { a } from './a.ts';"),
      source('src/a.ts', "import type { T } from 'types';\nimport { y } from 'eager';\nawait import('lazy');"),
    ];
    expect(packagesLoadedBy(['src/bin.ts'], eager)).toEqual(['eager']);
    expect(packagesLoadedBy(START, compiled)).toEqual(['commander', 'pino']);
  });
});

describe('names', () => {
  test('what a running server imports is imported when it can be loaded', () => {
    const LOADED_BY_START = /^src\/(cli|config)\//;
    // Its loader of tools says more about a failure, and passes the imports on.
    const LOADER = 'src/server/stdio/stdio-server.ts';
    const lazy = compiled.filter(
      ({ file, imports }) => !LOADED_BY_START.test(file) && imports.some(({ lazy }) => lazy),
    );
    const bare = lazy.filter(({ code }) =>
      /(?<!typeof )\bimport\(/.test(code.replaceAll('importWhenLoadable(() => import(', '')),
    );
    expect(bare.map(({ file }) => file)).toEqual([LOADER]);
    expect(lazy.length).toBeGreaterThan(bare.length);
  });

  test('nothing below or beside the dialects knows one by name', () => {
    const dialects = fs.readdirSync(path.join(TOP, 'src/dialects'), { withFileTypes: true });
    const names = dialects.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
    expect(names).toContain('workspace');
    // A whole string, a word that starts an identifier of its own (`workspaceTools`, `WorkspaceError`), or the name of a tool
    // that starts with its dialect's.
    const known = new RegExp(
      `['"\`](${names.join('|')})['"\`]|\\b(${names.join('|')})(?=Dialect|Tools?\\b|Errors?\\b|_[a-z])`,
      'i',
    );
    // The bridge is a library of its own: its questions and messages name the tools that answer them, without a dialect.
    const exempt = /^export const HANDOVER_TOOLS = \{[^}]*\}/m;
    const wrong = (all: readonly Source[]) =>
      all
        .filter(({ layer }) => [...BELOW_DIALECTS, 'audit', 'server'].includes(layer))
        .flatMap(({ file, code }) => {
          const found = known.exec(code.replace(exempt, ''));
          return found === null ? [] : [`${file} says ${found[0]}`];
        });
    expect(wrong([source('src/tools/x.ts', "if (name === 'workspace') return;")])).toHaveLength(1);
    expect(wrong([source('src/server/x.ts', 'const help = `Call guide_read_file.`;')])).toHaveLength(1);
    expect(wrong([source('src/agent/x.ts', "export const HANDOVER_TOOLS = { readFile: 'guide_read_file' };")])).toEqual(
      [],
    );
    expect(wrong(compiled)).toEqual([]);
    expect(compiled.filter(({ code }) => exempt.test(code))).toHaveLength(1);
  });

  test('files are in kebab-case and none is a drawer for odds and ends', () => {
    const wrong = (files: readonly string[]) =>
      files.filter(
        (file) =>
          !/^src(\/[a-z0-9]+(-[a-z0-9]+)*)+(\.[a-z]+)*\.ts$/.test(file) ||
          /(^|[/-])(utils?|helpers?|common|manager|misc)([/.-]|$)/.test(file),
      );
    expect(wrong(['src/a/Root.ts', 'src/a/path-utils.ts', 'src/a/root.ts'])).toHaveLength(2);
    expect(wrong(sources.map(({ file }) => file))).toEqual([]);
  });

  test('there are no default exports', () => {
    const wrong = (all: readonly Source[]) =>
      all.filter(({ code }) => /\bexport\s+default\b|\bas\s+default\b/.test(code)).map(({ file }) => file);
    expect(wrong([source('src/a/x.ts', 'export default 1;')])).toHaveLength(1);
    expect(wrong(compiled)).toEqual([]);
  });

  test('every call that does not confine says why it is safe', () => {
    expect(
      unconfinedCalls(source('src/fence/x.ts', 'return this.#syscalls?.openatUnconfined(fd, name, flags);')),
    ).toEqual([{ line: 1, isExplained: false }]);
    for (const call of [
      'this.#pathUnconfined(name);',
      'return pathUnconfined(name);',
      'const to = pathUnconfined(name);',
    ]) {
      expect(unconfinedCalls(source('src/fence/x.ts', call))).toHaveLength(1);
    }
    for (const declaration of [
      'export function pathUnconfined(name: Name): Buffer {',
      '  protected abstract pathUnconfined(name: Name): Buffer;',
      '  #pathUnconfined(name) {',
      '  pathUnconfined: (name) => name,',
      '  // pathUnconfined(name) joins strings.',
    ]) {
      expect(unconfinedCalls(source('src/fence/x.ts', declaration))).toEqual([]);
    }
    const explained = '// SAFETY: one name.\nfs.openSync(this.pathUnconfined(name));';
    expect(unconfinedCalls(source('src/fence/x.ts', explained))).toEqual([{ line: 2, isExplained: true }]);
    const calls = compiled.flatMap((one) => unconfinedCalls(one).map((call) => ({ ...call, file: one.file })));
    expect(calls.length).toBeGreaterThan(10);
    expect(calls.filter(({ isExplained }) => !isExplained)).toEqual([]);
    // Nothing outside the fence makes such a call at all.
    expect(calls.filter(({ file }) => !file.startsWith('src/fence/'))).toEqual([]);
  });
});

function source(file: string, text: string): Source {
  const code = text.replace(/^\s*\/\*[\s\S]*?\*\/\s*$/gm, '').replace(/^\s*\/\/.*$/gm, '');
  return { file, text, code, layer: layerOf(file), imports: importsOf(code) };
}

/** All TypeScript of a folder; AssemblyScript is another language. */
function readSources(top: string): Source[] {
  return fs
    .readdirSync(top, { recursive: true, encoding: 'utf8' })
    .map((name) => name.split(path.sep).join('/'))
    .filter((name) => name.endsWith('.ts') && !/(^|\/)assembly\//.test(name))
    .sort()
    .map((name) => source(`src/${name}`, fs.readFileSync(path.join(top, name), 'utf8')));
}

function layerOf(file: string): string {
  return /^src\/([^/]+)/.exec(file)?.[1] ?? file;
}

function importsOf(code: string): Import[] {
  const statements = /^\s*(?:import|export)\b(\s+type\b)?[^'";]*?\bfrom\s*'([^']+)'|^\s*import\s*'([^']+)'/gm;
  const calls = /\b(?:import|require)\(\s*'([^']+)'\s*\)/g;
  return [
    ...[...code.matchAll(statements)].map(([, type, from, bare]) => ({
      name: from ?? bare ?? '',
      typeOnly: type !== undefined,
      lazy: false,
    })),
    ...[...code.matchAll(calls)].map(([, name = '']) => ({ name, typeOnly: false, lazy: true })),
  ];
}

/** Relative imports as files from the top of the repo. */
function localImports({ file, imports }: Source): string[] {
  return imports
    .filter(({ name }) => name.startsWith('.'))
    .map(({ name }) => path.posix.join(path.posix.dirname(file), name));
}

/** The packages that are loaded with some files, or with what they import, before any of their code asks for more. */
function packagesLoadedBy(files: readonly string[], all: readonly Source[]): string[] {
  const byFile = new Map(all.map((one) => [one.file, one]));
  const loaded = new Set(files);
  const packages = new Set<string>();
  for (const file of loaded) {
    const { imports = [] } = byFile.get(file) ?? {};
    for (const { name } of imports.filter(({ typeOnly, lazy }) => !typeOnly && !lazy)) {
      if (name.startsWith('.')) loaded.add(path.posix.join(path.posix.dirname(file), name));
      else if (!name.startsWith('node:')) packages.add(name);
    }
  }
  return [...packages].sort();
}

function upwardImports(all: readonly Source[]): string[] {
  return all.flatMap((one) =>
    localImports(one)
      .map(layerOf)
      .filter((layer) => layer !== one.layer && !MAY_IMPORT[one.layer]?.includes(layer))
      .map((layer) => `${one.file} imports ${layer}`),
  );
}

function unusedPermissions(all: readonly Source[]): string[] {
  const used = new Set(
    all.flatMap((one) => localImports(one).map((file) => `${one.layer} may import ${layerOf(file)}`)),
  );
  return Object.entries(MAY_IMPORT)
    .flatMap(([layer, others]) => others.map((other) => `${layer} may import ${other}`))
    .filter((permission) => !used.has(permission));
}

/**
 * The folders that import each other, seen where their paths part: an import from `a/b/x.ts` to `a/c/d/y.ts` is one from `a/b`
 * to `a/c`, and one to `a/z.ts` is one from `a/b` to `a`. A file directly in src/ counts as a folder.
 */
function folderEdges(all: readonly Source[]): Map<string, Set<string>> {
  const edges = new Map<string, Set<string>>();
  const folderOf = (file: string) => (path.posix.dirname(file) === 'src' ? file : path.posix.dirname(file)).split('/');
  for (const one of all) {
    for (const imported of localImports(one)) {
      const [from, to] = [folderOf(one.file), folderOf(imported)];
      let shared = 0;
      while (shared < Math.min(from.length, to.length) && from[shared] === to[shared]) shared += 1;
      if (shared === from.length && shared === to.length) continue;
      const [a, b] = [from.slice(0, shared + 1).join('/'), to.slice(0, shared + 1).join('/')];
      if (a !== b) edges.set(a, (edges.get(a) ?? new Set()).add(b));
    }
  }
  return edges;
}

/** The files that each file imports, for types or values. */
function fileEdges(all: readonly Source[]): Map<string, Set<string>> {
  return new Map(all.map((one) => [one.file, new Set(localImports(one))]));
}

/** The strongly connected components with a circle: a folder or file belongs to one if it can be reached from itself. */
function circles(edges: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const reachable = (from: string): Set<string> => {
    const seen = new Set<string>();
    const todo = [...(edges.get(from) ?? [])];
    for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
      if (seen.has(next)) continue;
      seen.add(next);
      todo.push(...(edges.get(next) ?? []));
    }
    return seen;
  };
  const found = new Map<string, string[]>();
  for (const folder of edges.keys()) {
    const others = reachable(folder);
    if (!others.has(folder)) continue;
    const members = [...others].filter((other) => reachable(other).has(folder)).sort();
    found.set(members.join(' '), members);
  }
  return [...found.values()];
}

/** A function or method with a body, or a signature that ends with its return type. */
const UNCONFINED_DECLARATION =
  /^\s*(?:(?:export|async|protected|private|abstract|override|static|function)\s+)*#?\w+Unconfined\s*\([^)]*\)\s*(?::[^=]*[;{]|\{)\s*$/;

/** Calls of what does not confine, and whether a SAFETY comment stands within the three lines before them. */
function unconfinedCalls({ text }: Source): { line: number; isExplained: boolean }[] {
  const lines = text.split('\n');
  return lines.flatMap((line, i) => {
    const isCall = /Unconfined\s*\(/.test(line) && !UNCONFINED_DECLARATION.test(line) && !/^\s*(\/?\*|\/\/)/.test(line);
    const isExplained = lines.slice(Math.max(0, i - 3), i + 1).some((near) => near.includes('// SAFETY:'));
    return isCall ? [{ line: i + 1, isExplained }] : [];
  });
}
