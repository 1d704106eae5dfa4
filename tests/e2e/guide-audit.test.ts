import { expect, test } from 'vitest';
import { secret, withAgentRoot, withGuide } from '../support/agent-server.ts';
import { TWO_CONNECTIONS } from '../support/connections.ts';
import type { LogLine } from '../support/ringfence-process.ts';
import { json } from '../support/sampling-client.ts';

const CLIENT: Record<string, string> = { http: 'agent', stdio: 'stdio' };

withAgentRoot({ connections: TWO_CONNECTIONS }, (s, { transport }) => {
  const traced = (path: string, result: string) =>
    s.server.waitForLog((line) => line.operation !== undefined && line.path === path && line.result === result);

  test('filesystem-interaction/Operation audit log: operation, path, time and result, at TRACE', async () => {
    s.answerFile(secret('audited'));
    await s.ok('read_file', { root: 'laptop', path: 'docs/audited.md' });
    const line = await traced('docs/audited.md', 'ok');
    expect(line).toMatchObject({ level: 'trace', operation: 'read_file', duration_ms: expect.any(Number) });
    expect(Date.parse(line.time)).toBeGreaterThan(0);
    await s.ok('guide_cache_file', { path: 'docs/handed.md', content: secret('handed') });
    expect(await traced('docs/handed.md', 'ok')).toMatchObject({ level: 'trace', operation: 'cache_file' });
    await s.ok('guide_list_directory', { path: 'docs/folder', entries: [] });
    expect(await traced('docs/folder', 'ok')).toMatchObject({ level: 'trace', operation: 'store_listing' });
  });

  test('filesystem-interaction/Operation audit log: failures are there too, violations at WARN', async () => {
    s.answer(json({ error: 'not_found' }));
    await s.fails('read_file', { root: 'laptop', path: 'docs/missing.md' });
    expect(await traced('docs/missing.md', 'error')).toMatchObject({ error_type: 'not_found' });
    await s.fails('read_file', { root: 'laptop', path: 'private/audited.md' });
    const line = await s.server.waitForLog(({ attempted_path }) => attempted_path === 'private/audited.md');
    expect(line).toMatchObject({ level: 'warn', tool: 'read_file', root: 'laptop', client: CLIENT[transport] });
  });
});

withGuide({ connections: TWO_CONNECTIONS }, (g, { transport }) => {
  test('filesystem-tools/Audit logging for all operations: one line for each call, with what it was about and how it went', async () => {
    await g.ok('guide_cache_file', { path: 'docs/line-1.md', content: secret('1') });
    await g.ok('guide_read_file', { path: 'docs/line-2.md', content: secret('2') });
    await g.ok('guide_list_directory', { path: 'docs/line-3', entries: [] });
    await g.fails('guide_read_file', { path: 'docs/line-4.md', content: secret('4'), encoding: 'klingon' });
    const lines = await Promise.all(
      ['docs/line-1.md', 'docs/line-2.md', 'docs/line-3', 'docs/line-4.md'].map((path) =>
        g.server.waitForLog((line) => line.tool !== undefined && line.path === path),
      ),
    );
    const common = { dialect: 'guide', client: CLIENT[transport], duration_ms: expect.any(Number) };
    expect(lines).toMatchObject([
      { ...common, tool: 'guide_cache_file', outcome: 'success' },
      { ...common, tool: 'guide_read_file', outcome: 'success' },
      { ...common, tool: 'guide_list_directory', outcome: 'success' },
      { ...common, tool: 'guide_read_file', outcome: 'error', code: 'unsupported_encoding' },
    ]);
    for (const line of lines) expect(line).not.toHaveProperty('content');
  });

  test('filesystem-interaction/Security violation logging: path, type, way, client, and how often before', async () => {
    const attempt = async (path: string): Promise<LogLine> => {
      await g.fails('guide_cache_file', { path, content: secret('violation') });
      return g.server.waitForLog(({ attempted_path }) => attempted_path === path);
    };
    const first = await attempt('../violation-1');
    expect(first).toMatchObject({
      level: 'warn',
      msg: 'security violation',
      violation: 'traversal',
      client: CLIENT[transport],
      tool: 'guide_cache_file',
    });
    expect(first.stack.length).toBeGreaterThan(0);
    expect((await attempt('/violation-2')).violation).toBe('absolute');
    const third = await attempt('violation-3/x');
    expect(third).toMatchObject({ violation: 'not_allowed', previous_violations: first.previous_violations + 2 });
  });

  test('filesystem-tools/Rate limiting consideration: what is unusual is warned of, and figures are logged for the operator', async () => {
    for (let attempt = 0; attempt < 25; attempt += 1) {
      await g.fails('guide_cache_file', { path: `../unusual-${attempt}`, content: 'x' });
    }
    const warning = await g.server.waitForLog(({ pattern }) => pattern === 'repeated_violations');
    expect(warning).toMatchObject({ level: 'warn', client: CLIENT[transport], count: expect.any(Number) });
    expect(await g.server.waitForLog(({ pattern }) => pattern === 'many_denied_paths')).toMatchObject({
      level: 'warn',
    });
    process.kill(g.server.pid, 'SIGUSR2');
    const figures = await g.server.waitForLog(({ msg }) => msg === 'client activity');
    expect(figures).toMatchObject({ client: CLIENT[transport], calls: expect.any(Number), errors: expect.any(Number) });
    expect(figures.calls).toBeGreaterThanOrEqual(25);
    expect(figures.violations).toBeGreaterThanOrEqual(25);
  });
});
