import { describe, expect, test } from 'vitest';
import { Sandbox } from '../../fence/sandbox.fixture.ts';
import { DEFAULT_CONTEXT } from '../../runtime/operation-context.ts';
import { DEFAULT_RESULT_FORM, type ResultForm } from '../../tools/result-form.ts';
import type { CallContext } from '../../tools/tool.ts';
import { listFolder } from './list-folder.ts';

interface Listing {
  readonly entries: readonly { readonly name: string; readonly children_omitted?: number }[];
  readonly count: number;
  readonly truncated?: true;
  readonly next?: Record<string, unknown>;
}

async function run(box: Sandbox, given: object, results: ResultForm = DEFAULT_RESULT_FORM) {
  const args = listFolder.input.parse({ root: 'workspace', path: '', ...given });
  // Only what this tool uses of the server.
  const context = { ...DEFAULT_CONTEXT, results, resolveRoot: () => ({ root: box.root }) } as unknown as CallContext;
  const result = await listFolder.run(args, context);
  return { args, result };
}

async function list(box: Sandbox, given: object, maxChars?: number): Promise<Listing> {
  const { result } = await run(box, given, { ...DEFAULT_RESULT_FORM, maxChars });
  const parsed = JSON.parse(JSON.stringify(result));
  expect(listFolder.output.safeParse(parsed).success).toBe(true);
  return parsed;
}

async function text(box: Sandbox, given: object, maxChars?: number): Promise<string> {
  const { args, result } = await run(box, given, { ...DEFAULT_RESULT_FORM, mode: 'text', maxChars });
  return listFolder.readerText?.(result, args) ?? '';
}

const names = ({ entries }: Listing) => entries.map(({ name }) => name);

/** Shows lines without their times. */
const withoutTimes = (lines: string) => lines.replace(/\t\d{4}-\d\d-\d\dT\d\d:\d\dZ/g, '');

function project(): Sandbox {
  const box = new Sandbox('openat2');
  for (const file of ['src/a.ts', 'src/lib/b.ts', 'src/lib/c.ts', 'README']) box.file(file, '12345');
  return box;
}

describe('list_folder page by page', () => {
  test('next leads through all entries, each once, in every form', async () => {
    using box = new Sandbox('openat2');
    const all = Array.from({ length: 300 }, (_, index) => `f${String(index).padStart(3, '0')}`);
    for (const name of all) box.file(name, '');
    const found: string[] = [];
    for (let next: object | undefined = {}; next !== undefined; ) {
      const page: Listing = await list(box, next, 2000);
      expect(page.count).toBe(300);
      expect(page.truncated === true).toBe(page.next !== undefined);
      found.push(...names(page));
      next = page.next;
    }
    expect(found).toEqual(all);
    const lines = await text(box, { offset: 290 }, 100);
    expect(withoutTimes(lines)).toBe('f290\t0\nf291\t0\nf292\t0\nf293\t0\n[of 300 entries; next: {"offset":294}]');
    expect(await text(box, { offset: 300 })).toBe('[no more; 300 entries]');
    expect(names(await list(box, { offset: 298 }))).toEqual(['f298', 'f299']);
    expect(await list(box, { offset: 999 })).toEqual({ entries: [], count: 300 });
  });
});

describe('list_folder with depth', () => {
  test('names are paths relative to the folder', async () => {
    using box = project();
    const whole = await list(box, { depth: 3 });
    expect(names(whole)).toEqual(['README', 'src', 'src/a.ts', 'src/lib', 'src/lib/b.ts', 'src/lib/c.ts']);
    expect(whole).toMatchObject({ count: 6 });
    expect(whole).not.toHaveProperty('truncated');
    expect(names(await list(box, { path: 'src', depth: 2 }))).toEqual(['a.ts', 'lib', 'lib/b.ts', 'lib/c.ts']);
  });

  test('is an indented tree as text', async () => {
    using box = project();
    expect(withoutTimes(await text(box, { depth: 9 }))).toBe(
      'README\t5\nsrc/\t-\n  a.ts\t5\n  lib/\t-\n    b.ts\t5\n    c.ts\t5\n',
    );
    expect(await text(box, { path: 'src/lib', depth: 2 })).toMatch(/^b\.ts\t/);
  });

  test('is cut breadth-first to the limit, with counts, and next gets more of it', async () => {
    using box = project();
    const cut = await list(box, { path: 'src/..', depth: 9 }, 330);
    expect(cut.entries.map(({ name, children_omitted }) => [name, children_omitted])).toEqual([
      ['README', undefined],
      ['src', 1],
      ['src/a.ts', undefined],
    ]);
    expect(cut).toMatchObject({ count: 4, truncated: true, next: { offset: 3 } });
    expect(withoutTimes(await text(box, { depth: 9 }, 90))).toBe(
      'README\t5\nsrc/\t-\t[2 not shown]\n[4 entries, not all shown; next: {"offset":2}]',
    );
  });

  test('next leads through the whole tree, page by page', async () => {
    using box = project();
    for (const maxChars of [1, 120, 330, 1000]) {
      const found: string[] = [];
      let offset: unknown = 0;
      while (offset !== undefined) {
        const page = await list(box, { depth: 9, offset }, maxChars);
        found.push(...names(page));
        offset = page.next?.offset;
      }
      expect(found.sort()).toEqual(['README', 'src', 'src/a.ts', 'src/lib', 'src/lib/b.ts', 'src/lib/c.ts']);
    }
    expect(withoutTimes(await text(box, { depth: 9, offset: 3 }))).toBe(
      'src/lib/\t-\nsrc/lib/b.ts\t5\nsrc/lib/c.ts\t5\n',
    );
    expect(await text(box, { depth: 9, offset: 6 })).toBe('[no more; 6 entries]');
  });

  test('has a largest depth', () => {
    expect(listFolder.input.safeParse({ root: 'workspace', path: '', depth: 11 }).success).toBe(false);
  });
});
