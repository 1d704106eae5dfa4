import { expect, test } from 'vitest';
import { CONNECTIONS } from '../support/connections.ts';
import { inWorkspace } from '../support/workspace.ts';

const ALL = [
  ...['list_folder', 'read_file', 'read_files', 'write_file', 'remove_file', 'patch_file', 'create_folder'],
  ...['remove_folder'],
  ...['stat_file', 'hash_file', 'permissions_file', 'copy', 'move', 'grep', 'glob', 'edit_file'],
];
const roots = {
  workspace: ['*'],
  config: ['list_folder', 'read_file', 'stat_file'],
  logs: ['list_folder', 'read_file', 'stat_file', 'grep'],
  readonly: ['list_folder', 'read_file'],
  restricted: ['list_folder'],
  closed: [],
};

/** Arguments for each tool that would work on a root that allows it. */
const CALLS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  list_folder: { path: '' },
  read_file: { path: 'f' },
  read_files: { paths: ['f'] },
  write_file: { path: 'new', content: 'x' },
  remove_file: { path: 'f' },
  patch_file: { path: 'new', patch: '--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n' },
  edit_file: { path: 'f', old_text: 'x', new_text: 'y' },
  create_folder: { path: 'made' },
  remove_folder: { path: 'd' },
  stat_file: { path: 'f' },
  hash_file: { path: 'f', algorithm: 'md5' },
  permissions_file: { path: 'f' },
  grep: { pattern: 'x' },
  glob: { pattern: '*' },
};

inWorkspace({ connections: CONNECTIONS, roots }, (w) => {
  test('E2E-061 FR-003: the roots, with what each allows', async () => {
    const result = await w.call('list_roots');
    expect(result.structured).toEqual({
      roots: Object.entries(roots).map(([name, allowed]) => ({
        name,
        allowed_tools: allowed[0] === '*' ? ALL : allowed,
      })),
    });
    expect(JSON.parse(result.text)).toEqual(result.structured);
  });

  test('E2E-062 FR-003 NFR-008: no host paths among the roots', async () => {
    const wire = JSON.stringify((await w.call('list_roots')).raw);
    expect(wire).not.toContain(w.base);
    for (const { name, allowed_tools, ...more } of (await w.ok('list_roots')).roots) {
      expect(more).toEqual({});
      expect(`${name}${allowed_tools.join('')}`).not.toContain('/');
    }
  });

  test('E2E-066 FR-002: a tool that the root does not allow', async () => {
    w.file('app.yaml', 'kept', 'readonly');
    expect(await w.fails('write_file', { root: 'readonly', path: 'app.yaml', content: 'x' })).toContain(
      'tool write_file not allowed on root readonly',
    );
    expect(w.text('app.yaml', 'readonly')).toBe('kept');
    expect((await w.ok('read_file', { root: 'readonly', path: 'app.yaml' })).content).toBe('kept');
  });

  test.each(ALL)('FR-002: %s is refused on a root that allows nothing, and changes nothing', async (tool) => {
    w.file('f', 'kept', 'closed');
    w.file('d/inner', 'kept', 'closed');
    const args = CALLS[tool] ?? { source_path: 'f', dest_path: 'g' };
    const where = tool in CALLS ? { root: 'closed' } : { source_root: 'closed', dest_root: 'closed' };
    expect(await w.fails(tool, { ...where, ...args })).toContain(`tool ${tool} not allowed on root closed`);
    expect(w.tree('closed')).toEqual(['d/', 'd/inner', 'f']);
  });

  test.each(['copy', 'move'])('E2E-067 FR-002: %s is refused by its source', async (tool) => {
    w.file('f', 'kept', 'restricted');
    const ends = { source_root: 'restricted', source_path: 'f', dest_root: 'workspace', dest_path: 'f' };
    expect(await w.fails(tool, ends)).toContain(`tool ${tool} not allowed on root restricted`);
    expect(w.tree()).toEqual([]);
    expect(w.tree('restricted')).toEqual(['f']);
  });

  test.each(['copy', 'move'])('E2E-068 FR-002: %s is refused by its destination', async (tool) => {
    w.file('f', 'kept');
    const ends = { source_root: 'workspace', source_path: 'f', dest_root: 'readonly', dest_path: 'f' };
    expect(await w.fails(tool, ends)).toContain(`tool ${tool} not allowed on root readonly`);
    expect(w.tree()).toEqual(['f']);
    expect(w.tree('readonly')).toEqual([]);
  });

  test.each(ALL)('E2E-072 FR-001 NFR-011: %s on a root that does not exist', async (tool) => {
    const args = CALLS[tool] ?? { source_path: 'f', dest_root: 'workspace', dest_path: 'g' };
    const where = tool in CALLS ? { root: 'nonexistent' } : { source_root: 'nonexistent' };
    expect(await w.fails(tool, { ...where, ...args })).toMatch(/^unknown root: nonexistent\b/);
  });

  test.each(['copy', 'move'])('E2E-072: %s to a root that does not exist', async (tool) => {
    w.file('f', 'kept');
    const ends = { source_root: 'workspace', source_path: 'f', dest_root: 'nonexistent', dest_path: 'g' };
    expect(await w.fails(tool, ends)).toMatch(/^unknown root: nonexistent\b/);
    expect(w.tree()).toEqual(['f']);
  });

  test('FR-002: first the root, then what it allows, then the path', async () => {
    const outward = '../../etc/passwd';
    expect(await w.fails('write_file', { root: 'nonexistent', path: outward, content: '' })).toMatch(/^unknown root/);
    expect(await w.fails('write_file', { root: 'readonly', path: outward, content: '' })).toMatch(
      /not allowed on root/,
    );
    expect(await w.fails('write_file', { root: 'readonly', path: 'a\0b', content: '' })).toMatch(/not allowed on root/);
    expect(await w.fails('write_file', { root: 'workspace', path: outward, content: '' })).toMatch(/outside root/);
  });

  test('root names are not looked up in anything inherited, and case matters', async () => {
    for (const root of ['constructor', '__proto__', 'toString', 'Workspace', 'workspace ', '']) {
      expect(await w.fails('list_folder', { root, path: '' })).toMatch(/^unknown root/);
    }
  });

  test('NFR-016: an empty root is served', async () => {
    expect(await w.ok('list_folder', { root: 'logs', path: '' })).toEqual({ entries: [], count: 0 });
    expect((await w.ok('grep', { root: 'logs', pattern: 'x' })).total_matches).toBe(0);
  });
});
