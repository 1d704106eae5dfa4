import fs from 'node:fs';
import { describe, expect, test } from 'vitest';
import { outcome, Sandbox } from '../../src/fence/sandbox.fixture.ts';
import { move } from '../../src/files/copy/move.ts';
import { removeFile } from '../../src/files/remove/remove-entry.ts';
import { removeFolder } from '../../src/files/remove/remove-folder.ts';
import { makeFolder } from '../../src/files/write/make-folder.ts';
import { writeFile } from '../../src/files/write/write-file.ts';
import { History, pastSteps } from '../../src/history/index.ts';
import { mountTmpfs } from '../support/faulty-disk.ts';

const problem = (() => {
  try {
    mountTmpfs()[Symbol.dispose]();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
})();

const QUICK = { durable: false };

/** One kind of change to an entry. */
const CHANGES: Readonly<Record<string, (box: Sandbox, name: string) => Promise<unknown>>> = {
  overwrite: ({ root }, name) => writeFile(root, root.parse(`${name}/f`), Buffer.alloc(10, 'n'), QUICK),
  append: ({ root }, name) => writeFile(root, root.parse(`${name}/f`), Buffer.from('n'), { ...QUICK, mode: 'append' }),
  'remove a file': ({ root }, name) => removeFile(root, root.parse(`${name}/f`), QUICK),
  'remove a folder': ({ root }, name) => removeFolder(root, root.parse(name), QUICK),
  'make a folder': ({ root }, name) => makeFolder(root, root.parse(`${name}/new`)),
  move: (box, name) => move(box.at(`${name}/f`), box.at(`${name}/g`), QUICK),
};

describe.skipIf(problem)(`a full disk${problem ? ` (not here: ${problem})` : ''}`, () => {
  // The first step of a history makes its folders, and a later one only adds to them.
  test.each(Object.keys(CHANGES).flatMap((change) => [[change, 'first'] as const, [change, 'later'] as const]))(
    'to %s is refused and nothing has happened, the %s time',
    async (change, when) => {
      using disk = mountTmpfs('size=1m');
      using box = new Sandbox('openat2', disk.folder);
      for (let at = 0; at < 40; at += 1) box.file(`d${at}/f`, 'old');
      using history = History.open(box.root);
      if (when === 'later') await CHANGES.overwrite?.(box, 'd39');
      fill(box);
      let done = 0;
      for (; done < 39; done += 1) {
        const before = box.tree(`d${done}`);
        const result = await outcome(CHANGES[change]?.(box, `d${done}`));
        if (result === 'ok') continue;
        expect(result).toBe('disk_full');
        expect(box.tree(`d${done}`)).toEqual(before);
        expect(box.text(`d${done}/f`)).toBe('old');
        break;
      }
      // A few records may still fit into the last block of the log.
      expect(done).toBeLessThan(39);
      // Marks that wait for space are no reason to crash.
      await new Promise((resolve) => setTimeout(resolve, 60));
      fs.rmSync(box.host('filler'));
      await CHANGES['make a folder']?.(box, 'd38');
      const steps = [...pastSteps(history)].filter(({ cancelled, done: mark }) => !cancelled && mark !== undefined);
      expect([...pastSteps(history)].filter(({ cancelled, done: mark }) => !cancelled && mark === undefined)).toEqual(
        [],
      );
      const changed = new Set(steps.map(({ step }) => step.path.split('/')[0]));
      expect(changed.has(`d${done}`)).toBe(false);
      expect([...changed].filter((name) => name !== 'd38' && name !== 'd39')).toHaveLength(done);
      expect(await outcome(CHANGES[change]?.(box, `d${done}`))).toBe('ok');
    },
  );
});

/** Leaves no block free. */
function fill(box: Sandbox): void {
  const file = fs.openSync(box.host('filler'), 'w');
  try {
    for (const size of [65_536, 4096, 1]) {
      for (;;) if (fs.writeSync(file, Buffer.alloc(size)) < size) break;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    fs.closeSync(file);
  }
}
