import fs from 'node:fs';
import { expect, test } from 'vitest';
import { ownerState } from '../../src/fence/index.ts';
import { startServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';

test('a command sees that the server whose steps are in the log is running, also if Landlock restricts it', async () => {
  const folder = tempDir('ringfence-same-machine-');
  await using server = await startServer({ roots: [{ name: 'work', path: folder, ...{ history: true } }] });
  await server.ok('write_file', { root: 'work', path: 'a', content: 'x' });
  const log = fs.readFileSync(`${folder}/.ringfence/log/00000001`, 'utf8');
  const [, process = ''] = /"process":"([^"]+)"/.exec(log) ?? [];
  expect(ownerState(process)).toBe('running');
  await server.stop('SIGKILL');
  expect(ownerState(process)).toBe('gone');
});
