import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { SECRET } from '../../src/fence/escape-layouts.fixture.ts';
import { testSwappedFolder } from '../support/swap-attacks.ts';
import { swapLayout } from '../support/swap-layout.ts';
import { startSwapper } from '../support/swapper.ts';

/** How long the control may take until its first leak; it needs a fraction of a second. */
const CONTROL_SECONDS = 20;

testSwappedFolder({ seconds: 2, operations: 0, limitSeconds: 2 });

test('control: checking the real path before opening does leak under the same attack', async () => {
  using layout = swapLayout();
  await using _swapper = await startSwapper(layout.first, layout.second, CONTROL_SECONDS);
  const end = performance.now() + CONTROL_SECONDS * 1000;
  let leaked = false;
  for (let tries = 0; !leaked && (tries % 100 !== 0 || performance.now() < end); tries += 1) {
    leaked = readByCheckedPath(layout.rootPath, 'dir/nested.txt')?.includes(SECRET) ?? false;
  }
  expect(leaked).toBe(true);
});

/** What many servers do: resolve, compare, then open by name once more. */
function readByCheckedPath(root: string, name: string): string | undefined {
  try {
    const host = path.join(root, name);
    return fs.realpathSync(host).startsWith(root + path.sep) ? fs.readFileSync(host, 'utf8') : undefined;
  } catch {
    return undefined;
  }
}
