import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import type { BackendName } from '../../src/fence/index.ts';
import { BoundServer } from '../support/bound-server.ts';
import type { Args } from '../support/tool-client.ts';

/** A call of every tool on one path. `write` and `mkdir` and the ends of copy and move come apart. */
const CALLS: [tool: string, args: (path: string) => Args][] = [
  ['list', (path) => ({ path })],
  ['read', (path) => ({ path })],
  ['write', (path) => ({ path, content: 'x' })],
  ['write', (path) => ({ path, content: 'x', mode: 'append' })],
  ['write', (path) => ({ path, content: 'x', mode: 'create' })],
  ['write', (path) => ({ path, content: 'x', make_dirs: true })],
  ['mkdir', (path) => ({ path })],
  ['delete', (path) => ({ path })],
  ['delete', (path) => ({ path, recursive: true, force: true })],
  ['copy', (path) => ({ source: path, destination: 'to' })],
  ['copy', (path) => ({ source: 'f', destination: path, overwrite: true })],
  ['copy', (path) => ({ source: 'd', destination: path })],
  ['move', (path) => ({ source: path, destination: 'to' })],
  ['move', (path) => ({ source: 'f', destination: path, overwrite: true })],
  ['info', (path) => ({ path })],
  ['search', (path) => ({ root_path: path, pattern: 'x' })],
];

async function sandbox(fence?: BackendName): Promise<BoundServer<'classic'>> {
  const box = await BoundServer.start('classic', fence && { fence });
  box.file('f', 'x');
  box.file('d/g', 'x');
  box.link('../outside', 'out');
  box.link('../outside/secret', 'out-file');
  box.link('../outside/new', 'out-new');
  return box;
}

describe.each(['openat2', 'procfd', 'portable'] as const)('%s', (backend) => {
  test('filesystem-server/security: no tool leaves the root, and nothing outside or inside changes', async () => {
    await using box = await sandbox(backend);
    const before = box.tree();
    for (const path of ['/etc/passwd', '../outside/secret', 'd/../../outside/secret', 'out/secret', 'out/x/y']) {
      for (const [tool, args] of CALLS) {
        const error = await box.fails(tool, args(path));
        expect([tool, error.code, error.message]).toEqual([
          tool,
          'path_validation_error',
          'Path is outside of the allowed root directory',
        ]);
        expect(error.details).toMatchObject({ path, operation: tool });
        expect(JSON.stringify(error)).not.toContain(box.inside);
      }
    }
    expect(box.tree()).toEqual(before);
    expect(box.tree('../outside')).toEqual(['secret']);
  });
});

test('filesystem-server/security: links out of the root are not followed, also in the last place', async () => {
  await using box = await sandbox();
  const before = box.tree();
  for (const path of ['out', 'out-file', 'out-new']) {
    for (const [tool, args] of CALLS) {
      // Removing and moving act on the link itself, which is inside.
      if (tool === 'delete' || (tool === 'move' && 'source' in args(path) && !('overwrite' in args(path)))) continue;
      expect([path, tool, await box.code(tool, args(path))]).toEqual([path, tool, 'path_validation_error']);
    }
  }
  expect(box.tree()).toEqual(before);
  expect(await box.ok('delete', { path: 'out', recursive: true })).toMatchObject({ type: 'symlink' });
  expect(box.tree('../outside')).toEqual(['secret']);
});

test('filesystem-server/errors: an escape has just path and operation as details', async () => {
  await using box = await sandbox();
  expect(await box.fails('read', { path: '../x' })).toEqual({
    code: 'path_validation_error',
    message: 'Path is outside of the allowed root directory',
    details: { path: '../x', operation: 'read' },
  });
});

test.each([
  ['absolute paths', '/a', 'absolute paths are not accepted; give the path relative to the root'],
  ['drive letters', 'C:\\a', 'absolute paths are not accepted; give the path relative to the root'],
  ['null bytes', 'a\0b', 'the path contains a null byte'],
  ['broken Unicode', 'a\ud800', 'the path is not valid Unicode'],
  ['reserved names', '.ringfence-tmp-x', 'the name is reserved for temporary files'],
  ['over-long names', 'n'.repeat(300), 'the path or a name in it is too long'],
  ['circles of links', 'circle', 'too many symbolic links, or a circle of them'],
])('filesystem-server/errors: %s are path_validation_error, with a reason', async (_, path, reason) => {
  await using box = await sandbox();
  box.link('circle', 'circle');
  const error = await box.fails('read', { path });
  expect(error.code).toBe('path_validation_error');
  expect(error.details).toEqual({ path, operation: 'read', reason });
});

test('filesystem-server/errors: a missing path is not_found in every tool that needs one', async () => {
  await using box = await sandbox();
  const error = { code: 'not_found', message: 'The specified path does not exist' };
  for (const path of ['none', 'no/ne']) {
    const details = (operation: string) => ({ ...error, details: { path, operation } });
    expect(await box.fails('list', { path })).toEqual(details('list'));
    expect(await box.fails('read', { path })).toEqual(details('read'));
    expect(await box.fails('delete', { path })).toEqual(details('delete'));
    expect(await box.fails('copy', { source: path, destination: 'to' })).toEqual(details('copy'));
    expect(await box.fails('move', { source: path, destination: 'to' })).toEqual(details('move'));
    expect(await box.fails('search', { root_path: path, pattern: 'x' })).toEqual(details('search'));
  }
});

test('filesystem-server/errors: what is in the way is already_exists', async () => {
  await using box = await sandbox();
  box.folder('e');
  const error = {
    code: 'already_exists',
    message: 'The file already exists and overwrite is not enabled',
  };
  for (const path of ['f', 'e', 'd']) {
    const details = (operation: string) => ({ ...error, details: { path, operation } });
    box.file('new', 'n');
    box.file('newd/n', 'n');
    expect(await box.fails('write', { path, content: '', mode: 'create' })).toEqual(details('write'));
    expect(await box.fails('write', { path, content: '', mode: 'create_new' })).toEqual(details('write'));
    expect(await box.fails('mkdir', { path, recursive: false })).toEqual(details('mkdir'));
    for (const source of ['new', 'newd']) {
      expect(await box.fails('copy', { source, destination: path })).toEqual(details('copy'));
      expect(await box.fails('move', { source, destination: path })).toEqual(details('move'));
    }
  }
  expect(await box.code('mkdir', { path: 'f' })).toBe('already_exists');
  expect(box.text('f')).toBe('x');
});

test('filesystem-server/errors: a root that allows reading only answers permission_denied', async () => {
  await using box = await BoundServer.start('classic', { allowed: ['list_folder', 'read_file', 'stat_file', 'grep'] });
  box.file('f', 'x');
  const denied = (operation: string, needed: string, path = 'f') => ({
    code: 'permission_denied',
    message: 'Permission denied to access the specified path',
    details: { path, operation, reason: `the server does not allow ${needed} here` },
  });
  expect(await box.fails('write', { path: 'f', content: '' })).toEqual(denied('write', 'write_file'));
  expect(await box.fails('mkdir', { path: 'n' })).toEqual(denied('mkdir', 'create_folder', 'n'));
  expect(await box.fails('delete', { path: 'f' })).toEqual(denied('delete', 'remove_file'));
  expect(await box.fails('copy', { source: 'f', destination: 'g' })).toEqual(denied('copy', 'copy'));
  expect(await box.fails('move', { source: 'f', destination: 'g' })).toEqual(denied('move', 'move'));
  for (const [tool, args] of CALLS.filter(([name]) => ['list', 'read', 'info', 'search'].includes(name))) {
    expect([tool, await box.code(tool, args(tool === 'list' ? '.' : 'f'))]).toEqual([tool, 'ok']);
  }
  expect(box.tree()).toEqual(['f']);
});

test('filesystem-server/errors: the allowlist is asked before the path is looked at', async () => {
  await using box = await BoundServer.start('classic', { allowed: ['list_folder'] });
  expect(await box.code('read', { path: '../x' })).toBe('permission_denied');
  expect(await box.code('read', { path: 'none' })).toBe('permission_denied');
});

test('filesystem-server/errors: deleting a folder needs remove_folder too', async () => {
  await using box = await BoundServer.start('classic', { allowed: ['remove_file'] });
  box.file('d/f');
  expect((await box.fails('delete', { path: 'd', recursive: true })).details.reason).toContain('remove_folder');
  expect(await box.code('delete', { path: 'd/f' })).toBe('ok');
  expect(await box.code('delete', { path: 'd' })).toBe('permission_denied');
  expect(box.tree()).toEqual(['d/']);
});

describe('filesystem-server/errors: invalid_parameters say which and what would be right', () => {
  test.each([
    ['read', {}, 'path is required'],
    ['read', { path: 1 }, 'path must be a string, got 1'],
    ['read', { path: null }, 'path must be a string, got null'],
    ['read', { path: 'f', encoding: 'latin1' }, 'encoding must be one of "utf8", "base64", "binary", got "latin1"'],
    ['read', { path: 'f', start_line: -1 }, 'start_line must be an integer of at least 0, got -1'],
    ['read', { path: 'f', end_line: 1.5 }, 'end_line must be an integer of at least 0, got 1.5'],
    ['read', { path: 'f', start_line: 3, end_line: 2 }, 'start_line (3) must not be greater than end_line (2)'],
    ['read', { path: 'f', max_size: 0 }, 'max_size must be an integer of at least 1, got 0'],
    ['read', { path: 'f', max_size: '5' }, 'max_size must be an integer of at least 1, got "5"'],
    ['read', { path: 'f', ofset: 1 }, 'unknown parameter: ofset'],
    ['list', { path: '.', recusive: true }, 'unknown parameter: recusive (did you mean recursive?)'],
    ['list', { path: '.', recursive: 'yes' }, 'recursive must be true or false, got "yes"'],
    ['list', { path: '.', pattern: '' }, 'pattern is not a usable glob: the glob is empty'],
    ['write', { path: 'f' }, 'content is required'],
    ['write', { path: 'f', content: '', mode: 'replace' }, 'mode must be one of'],
    ['write', { path: 'f', content: '\ud800' }, 'content holds an unpaired surrogate'],
    ['write', { path: 'f', content: 'a', encoding: 'base64' }, 'content is not valid base64'],
    ['write', { path: 'f', content: 'YQ', encoding: 'base64' }, 'content is not valid base64'],
    ['write', { path: 'f', content: 'YQ= =', encoding: 'base64' }, 'content is not valid base64'],
    ['write', { path: 'f', content: 'YR==', encoding: 'base64' }, 'content is not valid base64'],
    ['write', { path: 'f', content: 'YQ==\n', encoding: 'base64' }, 'content is not valid base64'],
    ['write', { path: 'f', content: '-_-_', encoding: 'base64' }, 'content is not valid base64'],
    ['search', { root_path: '.', pattern: '' }, 'pattern must be a non-empty string'],
    ['search', { root_path: '.', pattern: '(', regex: true }, 'pattern is not valid: '],
    ['search', { root_path: '.', pattern: 'x', file_pattern: '' }, 'file_pattern is not a usable glob'],
    ['search', { root_path: '.', pattern: 'x', max_results: 0 }, 'max_results must be an integer of at least 1'],
    ['search', { root_path: '.', pattern: 'x', context_lines: -1 }, 'context_lines must be an integer from 0 to 100'],
    ['search', { root_path: '.', pattern: 'x', max_file_size: -1 }, 'max_file_size must be an integer of at least 1'],
    ['copy', { source: 'd', destination: 'to', recursive: false }, 'recursive must be true to copy a directory'],
    ['copy', { source: 'f', destination: 'f', overwrite: true }, 'source and destination are the same'],
    ['copy', { source: 'd', destination: 'd/in' }, 'destination must not lie inside source'],
    ['copy', { source: '.', destination: 'in' }, 'destination must not lie inside source'],
    ['move', { source: 'f', destination: './f' }, 'source and destination are the same'],
    ['move', { source: 'd', destination: 'd/in' }, 'destination must not lie inside source'],
    ['move', { source: '.', destination: 'to' }, 'source must not be the root directory itself'],
    ['delete', { path: '.', recursive: true, force: true }, 'path must not be the root directory itself'],
    ['delete', { path: '' }, 'path must not be the root directory itself'],
    ['delete', { path: 'd/..', recursive: true }, 'path must not be the root directory itself'],
    ['mkdir', { path: ['a'] }, 'path must be a string, got a list'],
    ['info', { path: { a: 1 } }, 'path must be a string, got an object'],
  ])('%s %j: %s', async (tool, args, message) => {
    await using box = await sandbox();
    const before = box.tree();
    const error = await box.fails(tool, args);
    expect(error).toMatchObject({ code: 'invalid_parameters', details: { operation: tool } });
    expect(error.message).toContain(message);
    const { path, source = path, root_path = source, destination } = args as Record<string, unknown>;
    expect([typeof root_path === 'string' ? root_path : '', destination]).toContain(error.details.path);
    expect(box.tree()).toEqual(before);
  });
});

describe('filesystem-server/errors: what the contract has no code for', () => {
  test.each([
    ['read', { path: 'd' }, 'is_directory'],
    ['read', { path: '' }, 'is_directory'],
    ['write', { path: 'd', content: '' }, 'is_directory'],
    ['write', { path: '.', content: '', mode: 'append' }, 'is_directory'],
    ['copy', { source: 'f', destination: 'd', overwrite: true }, 'is_directory'],
    ['move', { source: 'f', destination: 'd', overwrite: true }, 'is_directory'],
    ['list', { path: 'f' }, 'not_a_directory'],
    ['read', { path: 'f/x' }, 'not_a_directory'],
    ['copy', { source: 'd', destination: 'f', overwrite: true }, 'not_a_directory'],
    ['move', { source: 'd', destination: 'f', overwrite: true }, 'not_a_directory'],
    ['delete', { path: 'd' }, 'directory_not_empty'],
    ['delete', { path: 'd', force: true }, 'directory_not_empty'],
    ['move', { source: 'e', destination: 'd', overwrite: true }, 'directory_not_empty'],
    ['read', { path: 'pipe' }, 'not_a_file'],
    ['copy', { source: 'pipe', destination: 'to' }, 'not_a_file'],
    ['write', { path: 'pipe', content: '' }, 'not_a_file'],
  ])('%s %j is %s', async (tool, args, code) => {
    await using box = await sandbox();
    box.folder('e');
    execFileSync('mkfifo', [box.host('pipe')]);
    const before = box.tree();
    expect(await box.code(tool, args)).toBe(code);
    expect(box.tree()).toEqual(before);
  });
});

test('filesystem-server/config: a timeout is an error that says so, and stops the work', async () => {
  await using box = await BoundServer.start('classic', { env: { FS_REQUEST_TIMEOUT: '0.001' } });
  for (let i = 0; i < 3_000; i += 1) box.file(`d/${i}`, 'x'.repeat(5_000));
  for (const [tool, args] of [
    ['search', { root_path: '.', pattern: 'no such text' }],
    ['copy', { source: 'd', destination: 'to' }],
    ['list', { path: '.', recursive: true }],
  ] as const) {
    const error = await box.fails(tool, args);
    expect([tool, error.code, error.message]).toEqual([tool, 'timeout', 'The operation timed out after 0.001 seconds']);
  }
  expect(box.tree().filter((name) => !name.startsWith('d/'))).toEqual([]);
});

test('filesystem-server/logging: one line a call names tool, path and outcome', async () => {
  await using box = await sandbox();
  await box.ok('read', { path: 'f' });
  await box.fails('read', { path: '/x' });
  await box.ok('copy', { source: 'f', destination: 'g' });
  expect(await box.callLogs(3)).toMatchObject([
    { tool: 'read', dialect: 'classic', path: 'f', outcome: 'success' },
    { tool: 'read', path: '/x', outcome: 'error', code: 'outside_root' },
    { tool: 'copy', source: 'f', destination: 'g', outcome: 'success' },
  ]);
});
