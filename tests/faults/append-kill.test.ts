import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { appendJournalName, temporaryName } from '../../src/fence/index.ts';
import { killAppends } from '../support/killed-appends.ts';
import { startServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';

test.each(['openat2', 'procfd'])(
  'of a process that is killed on %s, every append is there whole or not at all',
  async (fence) => {
    await killAppends(4, fence);
  },
);

describe.each(['http', 'stdio'] as const)('over %s', (transport) => {
  test('what a killed server left of an append is undone before the first call', async () => {
    const dir = tempDir();
    const host = path.join(dir, 'f');
    fs.writeFileSync(host, 'old');
    const { ino } = fs.statSync(host);
    const gone = spawnSync(process.execPath, ['-e', '']).pid;
    const owner = temporaryName().replace(`-${process.pid}-`, `-${gone}-`);
    const record = { owner, path: 'f', ino, before: 3, length: 9000 };
    fs.writeFileSync(path.join(dir, appendJournalName(ino)), `${JSON.stringify(record)}\n${'x'.repeat(9000)}`);
    fs.appendFileSync(host, 'x'.repeat(5000));
    await using rf = await startServer({ transport, roots: [{ name: 'r', path: dir }] });
    const { structured } = await rf.call('read_file', { root: 'r', path: 'f' });
    expect(structured.content).toBe('old');
    expect(rf.logs()).toContainEqual(expect.objectContaining({ root: 'r', undone: 1 }));
    expect(fs.readdirSync(dir)).toEqual(['f']);
  });
});
