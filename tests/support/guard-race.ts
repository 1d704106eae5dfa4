import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import type { BackendName } from '../../src/fence/index.ts';
import { GuardLayout, SECRET } from './guard-layout.ts';
import { InProcessServer } from './in-process-server.ts';
import { startSwapper } from './swapper.ts';
import type { Args } from './tool-client.ts';

const w = { root: 'w' };
const ends = { source_root: 'w', dest_root: 'w' };

/** Calls on paths through a folder that keeps being exchanged with a link to what is guarded. */
const CALLS: readonly [tool: string, args: Args][] = [
  ['read_file', { ...w, path: 'dir/key.txt' }],
  ['read_file', { ...w, path: 'evil/key.txt' }],
  ['read_files', { ...w, paths: ['dir/key.txt', 'evil/key.txt'] }],
  ['read_file', { ...w, path: 'dir/log' }],
  ['hash_file', { ...w, path: 'dir/key.txt' }],
  ['list_folder', { ...w, path: 'dir' }],
  ['list_folder', { ...w, path: '.', depth: 3 }],
  ['grep', { ...w, pattern: 'SECRET' }],
  ['grep', { ...w, path: 'dir', pattern: 'SECRET' }],
  ['glob', { ...w, path: 'dir', pattern: '**' }],
  ['write_file', { ...w, path: 'dir/key.txt', content: 'ours' }],
  ['write_file', { ...w, path: 'dir/key.txt', content: 'ours', mode: 'append' }],
  ['write_file', { ...w, path: 'dir/more/new.txt', content: 'ours', mode: 'create_only' }],
  ['write_file', { ...w, path: 'dir/hooks/pre-commit', content: 'ours' }],
  ['write_file', { ...w, path: 'dir/hooks/post-commit', content: 'ours' }],
  ['edit_file', { ...w, path: 'dir/key.txt', edits: [{ old_text: 'o', new_text: 'oo' }] }],
  ['create_folder', { ...w, path: 'dir/hooks/made' }],
  ['remove_file', { ...w, path: 'dir/key.txt' }],
  ['remove_file', { ...w, path: 'dir/hooks/pre-commit' }],
  ['remove_folder', { ...w, path: 'dir/more' }],
  ['remove_folder', { ...w, path: 'dir/hooks' }],
  ['copy', { ...ends, source_path: 'dir', dest_path: 'out' }],
  ['copy', { ...ends, source_path: 'dir/key.txt', dest_path: 'out.txt' }],
  ['copy', { ...ends, source_path: 'fake', dest_path: 'dir' }],
  ['move', { ...ends, source_path: 'dir/more', dest_path: 'moved' }],
  ['move', { ...ends, source_path: 'dir/hooks', dest_path: 'moved-hooks' }],
  ['move', { ...ends, source_path: 'ok.txt', dest_path: 'dir/hooks/pre-commit' }],
];

/** What one race has shown. */
export interface RaceFigures {
  readonly calls: number;
  readonly exchanges: number;
  /** How many calls succeeded: none would mean that the race was not one. */
  readonly succeeded: number;
}

/**
 * Calls tools for some seconds while another process exchanges a folder with a link to `target`, which is denied or protected. Throws
 * `AssertionError` if an answer shows a secret, or if anything guarded has been changed, moved, removed or made.
 */
export async function raceGuards(
  target: 'secret' | '.git' | '.ringfence',
  { fence, seconds }: { fence: BackendName; seconds: number },
): Promise<RaceFigures> {
  using layout = new GuardLayout();
  const [dir, evil] = [layout.host('dir'), layout.host('evil')];
  fs.rmSync(dir, { recursive: true });
  fs.symlinkSync(target, evil);
  for (const name of ['key.txt', 'more/key2.txt', 'hooks/pre-commit']) {
    fs.mkdirSync(path.dirname(path.join(dir, name)), { recursive: true });
    fs.writeFileSync(path.join(dir, name), 'ours');
  }
  const [before, inPlace] = [layout.guarded(), layout.inPlace()];
  await using server = new InProcessServer({ dialect: 'workspace', config: layout.config(), fence });
  await using swapper = await startSwapper(dir, evil, seconds);
  const until = Date.now() + seconds * 1000;
  let [calls, succeeded] = [0, 0];
  while (Date.now() < until) {
    for (const [tool, args] of CALLS) {
      const { text, isError } = await server.call(tool, args);
      assert(!text.includes(SECRET), `${tool} ${JSON.stringify(args)}: ${text.slice(0, 300)}`);
      calls += 1;
      if (!isError) succeeded += 1;
    }
    assert.equal(layout.inPlace(), inPlace);
  }
  const exchanges = await swapper.finished();
  assert.equal(layout.guarded(), before);
  assert.deepEqual(fs.readdirSync(layout.host('.ringfence')), ['log']);
  return { calls, exchanges, succeeded };
}
