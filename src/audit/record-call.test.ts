import { pino } from 'pino';
import { expect, test } from 'vitest';
import { SecurityError } from '../agent/bridge-error.ts';
import { FenceError } from '../fence/index.ts';
import { ToolError } from '../tools/errors.ts';
import { Activity } from './activity.ts';
import { type CallEvent, type CallFailure, recordCall } from './record-call.ts';

function record(failure?: CallFailure, more: Partial<CallEvent> = {}, activity?: Activity) {
  const lines: string[] = [];
  const logger = pino(
    { formatters: { level: (level) => ({ level }) } },
    { write: (line: string) => void lines.push(line) },
  );
  recordCall(
    logger,
    {
      tool: 'read_file',
      dialect: 'test',
      client: { key: 'session:1', kind: 'session', name: 'session-1' },
      root: 'r',
      path: 'a',
      about: { root: 'r', path: 'a' },
      durationMs: 1.23456,
      responseBytes: 7,
      failure,
      ...more,
    },
    activity,
  );
  expect(lines).toHaveLength(1);
  return { text: lines[0] ?? '', line: JSON.parse(lines[0] ?? '') };
}

test('NFR-017: a success names tool, root, path, outcome, duration and size', () => {
  const { line } = record();
  expect(line).toMatchObject({ level: 'info', tool: 'read_file', root: 'r', path: 'a', outcome: 'success' });
  expect(line).toMatchObject({ duration_ms: 1.235, response_bytes: 7, msg: 'call' });
});

test('NFR-017: an ordinary failure carries its code', () => {
  expect(record({ code: 'not_found' }).line).toMatchObject({ level: 'info', outcome: 'error', code: 'not_found' });
});

test('NFR-019: an escape is a warning with the attempted and the resolved path', () => {
  const cause = new FenceError('outside_root', { resolved: '/etc/passwd' }, { path: 'link/passwd', root: 'r' });
  expect(record({ code: 'outside_root', cause }).line).toMatchObject({
    level: 'warn',
    attempted_path: 'link/passwd',
    resolved_path: '/etc/passwd',
    msg: 'security violation',
  });
});

test('NFR-019: a refused tool and a broken path are warnings', () => {
  expect(
    record({ code: 'tool_not_allowed', cause: new ToolError('tool_not_allowed', { tool: 'x' }) }).line,
  ).toMatchObject({ level: 'warn', attempted_path: 'a' });
  expect(record({ code: 'invalid_path' }).line.level).toBe('warn');
});

test('filesystem-interaction/Security violation logging: type, path, client, way and how often before', () => {
  const activity = new Activity({ unusual: () => {} });
  const cause = new SecurityError('traversal', '../x');
  for (const previous of [0, 1, 2]) {
    const { line } = record({ code: 'path_not_allowed', cause }, {}, activity);
    expect(line).toMatchObject({
      level: 'warn',
      client: 'session-1',
      violation: 'traversal',
      attempted_path: '../x',
      previous_violations: previous,
    });
    expect(line.stack[0]).toMatch(/^at .*record-call\.test/);
  }
  expect(record({ code: 'outside_root', cause: new FenceError('outside_root', {}) }, {}, activity).line).toMatchObject({
    violation: 'outside_root',
    previous_violations: 3,
  });
  expect(activity.figures()).toEqual([
    { client: 'session-1', calls: 4, errors: 4, violations: 4, deniedPaths: 2, peakCalls: 4 },
  ]);
});

test('a message that looks like a stack stays out of the log', () => {
  const cause = new Error('first line\n    at the content of a file');
  expect(record({ code: 'internal', cause }).text).not.toContain('content');
});

test('a bug is logged at ERROR with its stack, without values', () => {
  const cause = new SyntaxError('unexpected token in "the content of a file"', {
    cause: new TypeError('more content'),
  });
  const { line, text } = record({ code: 'internal', cause });
  expect(line).toMatchObject({ level: 'error', error: { name: 'SyntaxError', cause: { name: 'TypeError' } } });
  expect(line.error.stack[0]).toMatch(/^at .*record-call\.test/);
  expect(text).not.toContain('content');
});

test('a path of a megabyte is truncated', () => {
  const path = 'x'.repeat(1_000_000);
  expect(record(undefined, { path, about: { path } }).text.length).toBeLessThan(10_000);
});

test('the line of an ordinary call has subject, outcome and duration', () => {
  const about = { root: 'r', path: 'a "b"\n\u0007 ü', glob: '*.ts' };
  const event = {
    tool: 'grep',
    dialect: 'test',
    client: { key: 'c', kind: 'session', name: 'c' },
    root: 'r',
    path: about.path,
    about,
    durationMs: 0.1234,
    responseBytes: 5,
  } as const;
  const line = (failure: CallFailure | undefined): unknown => {
    const lines: string[] = [];
    const options = { base: null, timestamp: false, formatters: { level: (level: string) => ({ level }) } };
    recordCall(pino(options, { write: (text: string) => void lines.push(text) }), { ...event, failure });
    expect(lines).toHaveLength(1);
    return JSON.parse(lines[0] ?? '');
  };
  const fields = { ...about, tool: 'grep', dialect: 'test', client: 'c', duration_ms: 0.123, response_bytes: 5 };
  expect(line(undefined)).toEqual({ level: 'info', ...fields, outcome: 'success', msg: 'call' });
  const failed = { level: 'info', ...fields, outcome: 'error', msg: 'call' };
  expect(line({ code: 'not_found' })).toEqual({ ...failed, code: 'not_found' });
  const cause = new FenceError('io_error', { errno: 'EIO' });
  expect(line({ code: 'io_error', cause })).toEqual({ ...failed, code: 'io_error', errno: 'EIO' });
});
