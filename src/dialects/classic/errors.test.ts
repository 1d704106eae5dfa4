import { expect, test } from 'vitest';
import { FenceError } from '../../fence/index.ts';
import { FileError } from '../../files/errors.ts';
import { type CallError, ToolError } from '../../tools/errors.ts';
import { formatError, formatProblems } from './errors.ts';

const format = (error: CallError, args = {}) => JSON.parse(formatError(error, { tool: { name: 'read' }, args }));

test('details.path is the path of the error, else that of the call, else empty', () => {
  const at = (path?: string, args = {}) => format(new FenceError('not_found', {}, { path }), args).error.details.path;
  expect(at('a', { path: 'b' })).toBe('a');
  expect(at(undefined, { path: 'b' })).toBe('b');
  expect(at(undefined, { source: 'c', destination: 'd' })).toBe('c');
  expect(at(undefined, { root_path: 'e' })).toBe('e');
  expect(at(undefined, { path: 5 })).toBe('');
});

test('invalid arguments have the same form', () => {
  const problems = [{ argument: 'path', kind: 'missing', message: 'path is required' }] as const;
  expect(formatProblems(problems, { tool: { name: 'write' }, args: { path: 'f' } })).toBe(
    '{"error":{"code":"invalid_parameters","message":"path is required","details":{"path":"f","operation":"write"}}}',
  );
});

test('invalid content is described by its encoding', () => {
  const message = (args: object) =>
    format(new FileError('invalid_encoding', { argument: 'content' }), args).error.message;
  expect(message({ encoding: 'base64' })).toBe('content is not valid base64');
  expect(message({})).toBe('content holds an unpaired surrogate, which cannot be written as UTF-8');
});

test('the cause is not shown', () => {
  const cause = new Error('/host/path');
  const text = formatError(new FenceError('outside_root', { resolved: '/host/path' }, { path: 'l', cause }), {
    tool: { name: 'read' },
    args: { path: 'l' },
  });
  expect(text).not.toContain('host');
  expect(format(new ToolError('internal', {}, { cause })).error.code).toBe('internal_error');
});
