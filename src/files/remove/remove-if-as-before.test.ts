import { expect, onTestFinished, test, vi } from 'vitest';
import { Dir, FenceError, parseCallerPath } from '../../fence/index.ts';
import { onEveryBackend, outcome, type Sandbox } from '../../fence/sandbox.fixture.ts';
import { removeIfAsBefore } from './remove-if-as-before.ts';

/** Has every unlink fail with EIO, after what `before` does. */
function failToUnlink(before: (unlink: () => void) => void): void {
  const { unlink } = Dir.prototype;
  const spy = vi.spyOn(Dir.prototype, 'unlink').mockImplementation(function (this: Dir, name) {
    before(() => unlink.call(this, name));
    throw new FenceError('io_error', { errno: 'EIO' });
  });
  onTestFinished(() => spy.mockRestore());
}

async function remove({ root }: Sandbox): Promise<boolean> {
  using found = root.locate(parseCallerPath('f'), { follow: false });
  return removeIfAsBefore({ dir: found.dir, name: 'f', before: found.stats });
}

onEveryBackend((open) => {
  test('a file that cannot be removed keeps its name', async () => {
    using box = open();
    box.file('f', 'content');
    failToUnlink(() => {});
    expect(await outcome(remove(box))).toBe('io_error');
    expect(box.tree()).toEqual(['f']);
    expect(box.text('f')).toBe('content');
  });

  test('a file that cannot be removed gets a similar name if another one has its own by now', async () => {
    using box = open();
    box.file('f', 'content');
    failToUnlink(() => void box.file('f', 'new'));
    expect(await outcome(remove(box))).toBe('io_error');
    expect(box.text('f')).toBe('new');
    expect(box.tree()).toEqual(['f', expect.stringMatching(/^f\.[0-9a-f]{8}$/)]);
  });

  test('a file that is removed although that fails is removed', async () => {
    using box = open();
    box.file('f');
    failToUnlink((unlink) => unlink());
    expect(await remove(box)).toBe(true);
    expect(box.tree()).toEqual([]);
  });
});
