import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { startServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';

const LONG_AGO = new Date('2020-01-01');

function leaveTemporary(folder: string): string {
  const file = path.join(folder, '.ringfence-tmp-elsewhere-1-0');
  fs.writeFileSync(file, 'half');
  fs.utimesSync(file, LONG_AGO, LONG_AGO);
  return file;
}

test('what killed processes left is removed after the start, but not where nothing may be written', async () => {
  const [writable, readable] = [tempDir(), tempDir()];
  fs.mkdirSync(path.join(writable, 'deep'));
  const [left, kept] = [leaveTemporary(path.join(writable, 'deep')), leaveTemporary(readable)];
  await using rf = await startServer({
    transport: 'stdio',
    roots: [
      { name: 'readable', path: readable, allowed_tools: ['read_file', 'list_folder'] },
      { name: 'writable', path: writable },
    ],
  });
  const line = await rf.waitForLog(({ msg }) => msg === 'leftover temporary files removed');
  expect(line).toMatchObject({ level: 'info', root: 'writable', removed: 1 });
  expect([fs.existsSync(left), fs.existsSync(kept)]).toEqual([false, true]);
  for (const folder of [writable, readable]) fs.rmSync(folder, { recursive: true });
});
