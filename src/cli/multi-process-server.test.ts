import { pino } from 'pino';
import { expect, test } from 'vitest';
import { defaultConfig } from '../config/defaults.ts';
import { MultiProcessServer } from './multi-process-server.ts';

test('a reload that fails for a reason that nobody expects is a line in the log, and the next one is tried', async () => {
  const lines: Record<string, unknown>[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const log = { logger, pass: () => {}, reopen: () => {}, flush: async () => {} };
  const server = new MultiProcessServer({ config: { ...defaultConfig(), roots: [] }, count: 1, log });
  for (const code of ['EIO', 'EMFILE']) {
    await server.reload(() => Promise.reject(Object.assign(new Error('unexpected'), { code })));
    const line = { error: { code }, msg: 'the config is not loaded again; the workers stay' };
    expect(lines.at(-1)).toMatchObject(line);
  }
  await server.stop();
});
