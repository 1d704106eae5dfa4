import { expect, test } from 'vitest';
import { FenceError } from '../../fence/index.ts';
import { FileError } from '../../files/errors.ts';
import { type CallError, ToolError } from '../../tools/errors.ts';
import { wordError, wordInvalid } from './errors.ts';

const word = (error: CallError, args = {}) => JSON.parse(wordError(error, { tool: { name: 'read' }, args }));

test('the path is that of the failure, else that of the call, else empty', () => {
  const at = (path?: string, args = {}) => word(new FenceError('not_found', {}, { path }), args).error.details.path;
  expect(at('a', { path: 'b' })).toBe('a');
  expect(at(undefined, { path: 'b' })).toBe('b');
  expect(at(undefined, { source: 'c', destination: 'd' })).toBe('c');
  expect(at(undefined, { root_path: 'e' })).toBe('e');
  expect(at(undefined, { path: 5 })).toBe('');
});

test('arguments that do not fit are told of in the same form', () => {
  expect(wordInvalid('path is required', { tool: { name: 'write' }, args: { path: 'f' } })).toBe(
    '{"error":{"code":"invalid_parameters","message":"path is required","details":{"path":"f","operation":"write"}}}',
  );
});

test('content that does not fit its encoding is told of by what is wrong with it', () => {
  const message = (args: object) =>
    word(new FileError('invalid_encoding', { argument: 'content' }), args).error.message;
  expect(message({ encoding: 'base64' })).toBe('content is not valid base64');
  expect(message({})).toBe('content holds an unpaired surrogate, which cannot be written as UTF-8');
});

test('what is for the log alone does not show', () => {
  const cause = new Error('/host/path');
  const text = wordError(new FenceError('outside_root', { resolved: '/host/path' }, { path: 'l', cause }), {
    tool: { name: 'read' },
    args: { path: 'l' },
  });
  expect(text).not.toContain('host');
  expect(word(new ToolError('internal', {}, { cause })).error.code).toBe('internal_error');
});
