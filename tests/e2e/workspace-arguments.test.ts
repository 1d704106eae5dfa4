import { expect, test } from 'vitest';
import { inWorkspace } from '../support/workspace.ts';

interface Property {
  readonly type: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly minItems?: number;
}

/** Arguments that fit, for every tool. */
const FITTING: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  list_roots: {},
  list_folder: { root: 'workspace', path: '' },
  read_file: { root: 'workspace', path: 'f' },
  read_files: { root: 'workspace', paths: ['f'] },
  write_file: { root: 'workspace', path: 'g', content: 'x' },
  remove_file: { root: 'workspace', path: 'f' },
  patch_file: { root: 'workspace', path: 'g', patch: '@@ -0,0 +1 @@\n+x\n' },
  edit_file: { root: 'workspace', path: 'f', old_text: 'x', new_text: 'y' },
  create_folder: { root: 'workspace', path: 'g' },
  remove_folder: { root: 'workspace', path: 'd' },
  stat_file: { root: 'workspace', path: 'f' },
  hash_file: { root: 'workspace', path: 'f', algorithm: 'md5' },
  permissions_file: { root: 'workspace', path: 'f' },
  copy: { source_root: 'workspace', source_path: 'f', dest_root: 'workspace', dest_path: 'g' },
  move: { source_root: 'workspace', source_path: 'f', dest_root: 'workspace', dest_path: 'g' },
  grep: { root: 'workspace', pattern: 'x' },
  glob: { root: 'workspace', pattern: '*' },
};

function wrongValues({ type, enum: names, minimum, minItems }: Property): unknown[] {
  const never = [null, ['x'], { x: 1 }, []];
  if (type === 'string') return [...never, 5, true, ...(names === undefined ? [] : ['bogus', 'x'.repeat(10_000)])];
  // A number without a minimum may be negative, as one that counts from the end, but not 0.
  if (type === 'integer') return [...never, 'five', '5', minimum === undefined ? 0 : -1, 1.5, true, 1e300, -0.5];
  if (type === 'boolean') return [...never, 'true', 1, 0];
  if (type === 'array')
    return [null, 'x', 5, true, { x: 1 }, [5], [null], [{ x: 1 }], ...(minItems === undefined ? [] : [[]])];
  throw new Error(`no wrong values for ${type}`);
}

inWorkspace({}, (w) => {
  test('E2E-073 NFR-011: what is required is asked for by name', async () => {
    w.file('f', 'content');
    expect((await w.call('read_file', { path: 'f' })).text).toContain('root is required');
    expect((await w.call('read_file', { root: 'workspace' })).text).toContain('path is required');
    const { isError, text } = await w.call('read_file', {});
    expect(isError).toBe(true);
    expect(text).toContain('root is required');
    expect(text).toContain('path is required');
  });

  test('E2E-073 NFR-011: every required argument of every tool', async () => {
    const { tools } = await w.server.client.listTools();
    for (const [tool, args] of Object.entries(FITTING)) {
      for (const name of tools.find((each) => each.name === tool)?.inputSchema.required ?? []) {
        const { [name]: _, ...rest } = args;
        const result = await w.call(tool, rest);
        expect(result.isError, `${tool} without ${name}`).toBe(true);
        expect(result.text).toContain(`${name} is required`);
      }
    }
  });

  test.each(Object.keys(FITTING))('%s answers every wrong type with a clear error and does nothing', async (tool) => {
    w.file('f', 'kept');
    w.file('d/inner');
    const { tools } = await w.server.client.listTools();
    const schema = tools.find((each) => each.name === tool)?.inputSchema;
    const properties = (schema?.properties ?? {}) as unknown as Record<string, Property>;
    for (const [name, property] of Object.entries(properties)) {
      for (const value of wrongValues(property)) {
        const { isError, text } = await w.call(tool, { ...FITTING[tool], [name]: value });
        const what = `${tool} with ${name} = ${JSON.stringify(value).slice(0, 40)}: ${text}`;
        expect(isError, what).toBe(true);
        if (property.enum === undefined) expect(text, what).toContain(name);
        else expect(text, what).toMatch(/must be one of|valid modes|supported/);
        expect(text.length, what).toBeLessThan(500);
        expect(text, what).not.toContain('[object Object]');
      }
    }
    const { isError, text } = await w.call(tool, { ...FITTING[tool], pth: 'x', __proto: 1 });
    expect(isError).toBe(true);
    expect(text).toContain('unknown parameter: pth');
    expect(w.tree()).toEqual(['d/', 'd/inner', 'f']);
    expect(w.text('f')).toBe('kept');
  });

  test('the arguments that are called fitting do fit', async () => {
    for (const [tool, args] of Object.entries(FITTING)) {
      w.clear();
      w.file('f', 'kept');
      w.file('d/inner');
      expect((await w.call(tool, args)).text, tool).not.toMatch(/must be|is required|unknown/);
      expect((await w.call('list_roots')).isError).toBe(false);
    }
  });

  test('limits have sensible bounds', async () => {
    w.file('f', 'x\n');
    for (const args of [{ limit_lines: 0 }, { offset_lines: 0 }, { limit_bytes: 0 }]) {
      expect(await w.fails('read_file', { path: 'f', ...args })).toContain('at least 1');
    }
    expect(await w.fails('grep', { pattern: 'x', max_results: 0 })).toContain('max_results');
    expect(await w.fails('grep', { pattern: 'x', timeout_seconds: 0 })).toContain('timeout_seconds');
    expect((await w.ok('read_file', { path: 'f', limit_bytes: Number.MAX_SAFE_INTEGER })).content).toBe('x\n');
    expect((await w.ok('read_file', { path: 'f', offset_lines: Number.MAX_SAFE_INTEGER })).content).toBe('');
    expect((await w.ok('grep', { pattern: '' })).total_matches).toBe(1);
  });
});
