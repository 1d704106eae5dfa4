import { describe, expect, test } from 'vitest';
import { RingfenceError } from '../errors.ts';
import { FenceError } from '../fence/index.ts';
import type { ErrorCode, ErrorDetails } from '../tools/errors.ts';
import type { Violation } from './agent-error.ts';
import { AgentError } from './agent-error.ts';
import { BridgeError, SecurityError } from './bridge-error.ts';

describe('a refused path', () => {
  test.each<[Violation, RegExp]>([
    ['traversal', /traversal/],
    ['absolute', /absolute/],
    ['not_allowed', /not in an allowed folder/],
    ['link', /link that leaves/],
    ['circle', /circle/],
    ['characters', /bad characters/],
  ])('%s is named, with the path and an instruction', (violation, name) => {
    const error = new SecurityError(violation, 'docs/x', ['docs', 'src']);
    expect(error).toBeInstanceOf(BridgeError);
    expect(error).toBeInstanceOf(RingfenceError);
    expect(error).toMatchObject({ name: 'SecurityError', code: 'path_not_allowed', errorType: 'security', violation });
    expect(error.message).toMatch(name);
    expect(error.message).toContain('docs/x');
    expect(error.instruction).toMatch(/Allowed folders: docs, src\.$/);
  });

  test.each(['a\nb', 'a\u001b[31m', 'a\ud800'])('%j is shown escaped', (path) => {
    const { message } = new SecurityError('characters', path);
    expect(message).toContain(JSON.stringify(path));
    expect(message).not.toMatch(/[\u0000-\u001f]/);
  });

  test('that is too long is truncated', () => {
    expect(new SecurityError('traversal', 'x'.repeat(10_000)).message.length).toBeLessThan(300);
  });
});

const OTHERS: { [C in ErrorCode]?: [ErrorDetails[C], string] } = {
  invalid_argument: [{ problem: 'x must be y' }, 'validation'],
  invalid_pattern: [{ problem: 'it is empty' }, 'validation'],
  invalid_encoding: [{ argument: 'content' }, 'validation'],
  unsupported_encoding: [{ encoding: 'klingon' }, 'validation'],
  undecodable: [{ tried: ['utf-8'] }, 'validation'],
  too_large: [{ size: 2, limit: 1 }, 'validation'],
  name_too_long: [{}, 'validation'],
  bad_answer: [{ problem: 'it is empty' }, 'validation'],
  outside_root: [{ resolved: '/srv/host' }, 'security'],
  link_loop: [{}, 'security'],
  invalid_path: [{ problem: 'null_byte' }, 'security'],
  not_found: [{}, 'not_found'],
  permission_denied: [{}, 'permission'],
  timed_out: [{ seconds: 30 }, 'timeout'],
  sampling_unsupported: [{}, 'unsupported'],
  cancelled: [{}, 'system'],
  exhausted: [{}, 'system'],
  io_error: [{ errno: 'EIO' }, 'system'],
  internal: [{}, 'system'],
};

test.each(Object.entries(OTHERS))('%s has a kind, a message and an instruction', (code, [details, errorType]) => {
  for (const path of ['docs/a', undefined]) {
    const cause = new Error('/srv/host');
    const plain = new AgentError(code as never, details as never, { path, root: 'laptop', cause });
    const error = BridgeError.from(plain);
    expect(error).toMatchObject({ name: 'BridgeError', code, errorType, path, root: 'laptop', cause: plain });
    for (const text of [error.message, error.instruction]) {
      expect(text).toMatch(/^[A-Z].{5,}[^:\s]$|^(?:x|content) .+[^:\s]$/);
      expect(text).not.toMatch(/undefined|\[object|\/srv/);
    }
  }
});

test('from returns a BridgeError unchanged, and adds the path to any other error', () => {
  const error = new BridgeError('not_found', {}, { path: 'docs/a' });
  expect(BridgeError.from(error, 'docs/b')).toBe(error);
  expect(BridgeError.from(new FenceError('not_found', {}), 'docs/b').message).toBe('File or folder not found: docs/b');
});
