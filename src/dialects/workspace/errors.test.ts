import { describe, expect, test } from 'vitest';
import { ERROR_EXAMPLES, HOST } from '../../../scripts/error-examples.js';
import { RingfenceError } from '../../errors.ts';
import { FenceError } from '../../fence/index.ts';
import { CancelledError } from '../../runtime/operation-context.ts';
import { argumentChecker } from '../../tools/check-arguments.ts';
import type { ErrorCode, ErrorDetails } from '../../tools/errors.ts';
import { formatError } from './errors.ts';
import { hashFile } from './hash-file.ts';
import { writeFile } from './write-file.ts';

const CODES = Object.keys(ERROR_EXAMPLES) as ErrorCode[];

/** An error of any code, whichever class raises it. */
class AnyError<C extends ErrorCode> extends RingfenceError<ErrorDetails, C> {}

function word<C extends ErrorCode>(
  code: C,
  tool = 'read_file',
  where: { path?: string; root?: string } = {},
  args = {},
) {
  const cause = Object.assign(new Error(`EIO: i/o error, open '${HOST}'`), { path: HOST });
  return formatError(
    new AnyError<C>(code, ERROR_EXAMPLES[code].details, { path: 'src/main.go', root: 'workspace', ...where, cause }),
    {
      tool: { name: tool },
      args,
    },
  );
}

describe('every error', () => {
  test.each(CODES)('%s has one line for the client, without a host path or a system error', (code) => {
    for (const tool of ['read_file', 'write_file', 'remove_folder', 'create_folder', 'copy', 'grep', 'hash_file']) {
      const text = word(code, tool);
      expect(text).toMatch(/^\S.{8,}$/);
      expect(text).not.toMatch(/undefined|null\b(?! byte)|\[object|EIO|\/srv|\/host/);
    }
  });

  test.each(CODES)('%s names the root once', (code) => {
    expect(word(code).split('workspace')).toHaveLength(2);
  });
});

describe('the wording of the specification', () => {
  test.each([
    [word('not_found'), 'file not found: src/main.go (root: workspace)'],
    [word('too_large'), 'file too large for full read (size: 5.2MB, limit: 1.0MB); use offset/limit parameters'],
    [word('outside_root'), 'path resolves outside root boundary'],
    [
      word('already_exists', 'write_file', { path: 'config/app.yaml' }),
      'file already exists: config/app.yaml; use overwrite mode to replace',
    ],
    [word('tool_not_allowed', 'write_file'), 'tool write_file not allowed on root workspace'],
    [word('patch_failed', 'patch_file'), 'patch failed: hunk 1 does not match at line 42'],
    [word('not_found', 'copy', { path: 'a' }, { source_path: 'a', dest_path: 'b' }), 'source file not found'],
    [word('not_found', 'move', { path: 'a' }, { source_path: 'a', dest_path: 'b' }), 'source file not found'],
    [word('root_itself', 'remove_folder'), 'cannot remove root directory'],
    [word('not_found', 'remove_folder'), 'directory not found'],
    [word('not_found', 'list_folder'), 'directory not found'],
    [word('unknown_root', 'read_file', { root: 'nonexistent' }), 'unknown root: nonexistent'],
    [word('invalid_pattern', 'grep'), 'invalid pattern: missing closing ]'],
    [word('invalid_encoding', 'write_file'), 'content holds an unpaired surrogate'],
    [word('is_directory', 'remove_file'), 'use remove_folder instead'],
    [word('not_directory', 'remove_folder'), 'use remove_file instead'],
  ])('%s', (text, part) => {
    expect(text).toContain(part);
  });

  test('a hash algorithm that is not supported, a mode that does not exist', () => {
    const problems = (tool: typeof hashFile, args: object) => {
      const checked = argumentChecker(tool.input)(args);
      return 'problems' in checked ? checked.problems.map(({ message }) => message).join() : 'none';
    };
    expect(problems(hashFile, { root: 'r', path: 'p', algorithm: 'md4' })).toBe(
      'unsupported hash algorithm: md4; supported: md5, sha1, sha256',
    );
    const text = problems(writeFile, { root: 'r', path: 'p', content: '', mode: 'truncate' });
    for (const mode of ['truncate', 'overwrite', 'append', 'create_only']) expect(text).toContain(mode);
  });
});

describe('the root of an error', () => {
  const args = { source_root: 'from', source_path: 'a', dest_root: 'to', dest_path: 'b' };

  test('is that of the source or destination it is about, else that of the call', () => {
    const plain = (path?: string) =>
      formatError(new FenceError('permission_denied', {}, { path }), { tool: { name: 'copy' }, args });
    expect(plain('a')).toBe('permission denied: a (root: from)');
    expect(plain('b')).toBe('permission denied: b (root: to)');
    const call = { tool: { name: 'read_file' }, args: { root: 'r' } };
    expect(formatError(new FenceError('permission_denied', {}, { path: 'x' }), call)).toBe(
      'permission denied: x (root: r)',
    );
    expect(formatError(new CancelledError(), { tool: { name: 'list_roots' }, args: {} })).toBe(
      'cancelled before it was done',
    );
  });
});

test.each(['a\nb', 'a\0b', '\u001b[31m', 'a\ud800'])('a path like %j is shown escaped, in one line', (path) => {
  const text = word('not_found', 'read_file', { path });
  expect(text).toContain(JSON.stringify(path));
  expect(text).not.toMatch(/[\u0000-\u001f]/);
});

test('a path that is too long is truncated', () => {
  expect(word('name_too_long', 'read_file', { path: 'x'.repeat(100_000) }).length).toBeLessThan(300);
});
