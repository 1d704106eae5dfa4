import { expect, test } from 'vitest';
import { CONNECTIONS } from '../support/connections.ts';
import type { LogLine } from '../support/ringfence-process.ts';
import { inWorkspace } from '../support/workspace.ts';

const MARKER = 'marker-7f3a9c';

inWorkspace({ connections: CONNECTIONS, roots: { workspace: ['*'], readonly: ['read_file'] } }, (w, { transport }) => {
  const lineOf = (tool: string, more: LogLine) =>
    w.server.waitForLog(
      (line) => line.tool === tool && Object.entries(more).every(([key, value]) => line[key] === value),
    );

  test('NFR-017: a call that worked', async () => {
    w.file('ok.txt', 'content');
    await w.ok('read_file', { path: 'ok.txt' });
    expect(await lineOf('read_file', { path: 'ok.txt' })).toMatchObject({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      tool: 'read_file',
      root: 'workspace',
      path: 'ok.txt',
      outcome: 'success',
      duration_ms: expect.any(Number),
      response_bytes: expect.any(Number),
    });
  });

  test('NFR-017: a call that failed', async () => {
    await w.fails('read_file', { path: 'ghost.txt' });
    const line = await lineOf('read_file', { path: 'ghost.txt' });
    expect(line).toMatchObject({ level: 'info', outcome: 'error', code: 'not_found', root: 'workspace' });
    expect(line.response_bytes).toBeGreaterThan(10);
    await w.fails('stat_file', { path: 5 });
    expect(await lineOf('stat_file', { code: 'invalid_argument' })).toMatchObject({ outcome: 'error' });
    await w.fails('stat_file', { root: 'nowhere', path: 'x' });
    expect(await lineOf('stat_file', { code: 'unknown_root' })).toMatchObject({ root: 'nowhere', path: 'x' });
  });

  test('NFR-017: both ends of a copy', async () => {
    w.file('from.txt', 'x');
    await w.ok('copy', { source_path: 'from.txt', dest_path: 'to.txt' });
    expect(await lineOf('copy', { source_path: 'from.txt' })).toMatchObject({
      source_root: 'workspace',
      dest_root: 'workspace',
      dest_path: 'to.txt',
      outcome: 'success',
    });
  });

  test('NFR-018: the start, with names of roots and not their folders', () => {
    const start = w.server.logs().find((line) => line.roots !== undefined);
    expect(start).toMatchObject({
      level: 'info',
      roots: ['workspace', 'readonly'],
      config: expect.stringMatching(/ringfence\.yaml$/),
      address: transport === 'http' ? expect.stringMatching(/^127\.0\.0\.1:\d+$/) : 'stdio',
    });
    expect(JSON.stringify(start)).not.toContain(w.base);
  });

  test('NFR-019: a path that leads outside, with where it would have led', async () => {
    w.file('secret', 'x', 'outside');
    w.link(w.host('secret', 'outside'), 'escape');
    await w.fails('read_file', { path: 'escape' });
    expect(await lineOf('read_file', { path: 'escape' })).toMatchObject({
      level: 'warn',
      tool: 'read_file',
      root: 'workspace',
      attempted_path: 'escape',
      resolved_path: w.host('secret', 'outside'),
      outcome: 'error',
      code: 'outside_root',
    });
    await w.fails('hash_file', { path: '../../etc/passwd', algorithm: 'md5' });
    const dots = await lineOf('hash_file', { path: '../../etc/passwd' });
    expect(dots).toMatchObject({ level: 'warn', attempted_path: '../../etc/passwd' });
    expect(dots.resolved_path).toEqual(expect.any(String));
    await w.fails('read_file', { path: 'nul\0' });
    expect(await lineOf('read_file', { path: 'nul\0' })).toMatchObject({ level: 'warn', attempted_path: 'nul\0' });
  });

  test('NFR-019: a tool that the root does not allow', async () => {
    await w.fails('write_file', { root: 'readonly', path: 'denied.txt', content: 'x' });
    expect(await lineOf('write_file', { root: 'readonly' })).toMatchObject({
      level: 'warn',
      attempted_path: 'denied.txt',
      code: 'tool_not_allowed',
      outcome: 'error',
    });
  });

  test('NFR-017: no content of files is in the log', async () => {
    await w.ok('write_file', { path: 'a.txt', content: `${MARKER}\n` });
    await w.ok('read_file', { path: 'a.txt' });
    await w.ok('grep', { pattern: 'marker', context_lines: 3 });
    await w.ok('patch_file', { path: 'a.txt', patch: `@@ -1 +1 @@\n-${MARKER}\n+${MARKER} changed\n` });
    await w.fails('patch_file', { path: 'a.txt', patch: `@@ -1 +1 @@\n-${MARKER} other\n+x\n` });
    await w.fails('edit_file', { path: 'a.txt', old_text: `${MARKER} other`, new_text: MARKER });
    await w.ok('edit_file', { path: 'a.txt', old_text: MARKER, new_text: `${MARKER} again` });
    await w.fails('write_file', { path: 'a.txt', content: `${MARKER}\ud800` });
    await w.fails('write_file', { path: 'a.txt', content: [MARKER] });
    await w.ok('stat_file', { path: 'a.txt' });
    await lineOf('stat_file', { path: 'a.txt' });
    expect(w.server.stderr()).not.toContain(MARKER);
  });

  test('every line is JSON with a level and a time', () => {
    const lines = w.server
      .stderr()
      .split('\n')
      .filter((line) => line !== '');
    expect(lines.length).toBeGreaterThan(5);
    for (const line of w.server.logs()) {
      expect(line).toMatchObject({ level: expect.any(String), time: expect.any(String), msg: expect.any(String) });
    }
    expect(w.server.logs().length).toBe(lines.length);
  });
});
