import { describe, expect, test } from 'vitest';
import { BACKEND_NAMES } from '../fence/index.ts';
import { outcome } from '../fence/sandbox.fixture.ts';
import { PastBox } from './past-box.fixture.ts';
import { furnishOddly, randomNumbers, workRandomly } from './random-work.fixture.ts';
import { SubsetModel } from './subset-model.fixture.ts';

describe.each(BACKEND_NAMES)('%s', (backend) => {
  test.each([1, 2, 3])('random work (seed %s) is taken back exactly, and that again', async (seed) => {
    using past = new PastBox(backend);
    furnishOddly(past);
    const before = past.look();
    expect(await workRandomly(past, randomNumbers(seed), 150)).toBeGreaterThan(50);
    const after = past.look();
    expect(past.conflicts()).toEqual([]);
    const { change } = await past.undo();
    past.expectSame(before);
    await past.undo({ ids: [change ?? ''] });
    past.expectSame(after);
    expect(past.conflicts()).toEqual([]);
    await past.undo();
    past.expectSame(before);
  });
});

/** Makes the same random change in a root and in a model. */
async function changeBoth(past: PastBox, model: SubsetModel, random: (below: number) => number): Promise<void> {
  const found = model.look();
  const paths = Object.keys(found);
  const files = paths.filter((path) => found[path] !== 'folder');
  const folders = paths.filter((path) => found[path] === 'folder');
  const pick = (from: readonly string[]): string => from[random(from.length)] ?? 'first';
  const fresh = (): string => {
    const folder = random(2) === 0 ? '' : `${pick(['x', ...folders])}/`;
    const path = `${folder}${pick(['a', 'b', 'c', 'd', 'e'])}${random(4)}`;
    return path in found || files.some((file) => path.startsWith(`${file}/`)) ? `${past.changes.length}new` : path;
  };
  const file = () => (random(3) === 0 ? fresh() : pick(files));
  const content = `content ${random(1e9)}`;
  const both = async (call: (on: PastBox | SubsetModel) => Promise<void> | void): Promise<void> => {
    model.change(() => void call(model));
    await call(past);
  };
  const [from, to] = [pick(paths), fresh()];
  switch (random(7)) {
    case 0: {
      const path = file();
      return both((on) => on.append(path, content));
    }
    case 1:
      return from in found ? both((on) => on.remove(from)) : undefined;
    case 2:
      return from in found && !to.startsWith(`${from}/`) ? both((on) => on.move(from, to)) : undefined;
    case 3: {
      const [source, target] = [pick(files), pick(files)];
      return source === target || !(source in found) ? undefined : both((on) => on.move(source, target));
    }
    case 4:
      return from in found && !to.startsWith(`${from}/`) ? both((on) => on.copy(from, to)) : undefined;
    case 5:
      return both((on) => on.makeFolder(to));
    default: {
      const path = file();
      return both((on) => on.write(path, content));
    }
  }
}

/** What is in a root, as the model lists it. */
function contents({ box }: PastBox): Record<string, string> {
  const entries = box.tree().filter((entry) => !entry.startsWith('.ringfence'));
  return Object.fromEntries(
    entries.map((entry) => (entry.endsWith('/') ? [entry.slice(0, -1), 'folder'] : [entry, box.text(entry)])),
  );
}

test.each([1, 2, 3])('taking back some of many changes (seed %s) equals a model', async (seed) => {
  const random = randomNumbers(seed);
  let [clean, conflicting] = [0, 0];
  for (let round = 0; round < 6; round += 1) {
    using past = new PastBox('openat2');
    const model = new SubsetModel();
    for (let left = 25; left > 0; left -= 1) await changeBoth(past, model, random);
    expect(contents(past)).toEqual(model.look());
    const { changes } = past;
    const size = 1 + random(random(2) === 0 ? 3 : changes.length);
    const newest = random(2) === 0;
    const numbers = [...changes.keys()].filter((at) =>
      newest ? at >= changes.length - size : random(changes.length) < size,
    );
    const ids = numbers.map((at) => changes[at] as string);
    const before = past.look();
    const isClean = model.undo(numbers);
    expect([numbers, past.conflicts({ ids }).length === 0]).toEqual([numbers, isClean]);
    if (isClean) {
      clean += 1;
      await past.undo({ ids });
      expect(contents(past)).toEqual(model.look());
    } else {
      conflicting += 1;
      expect(await outcome(past.undo({ ids }))).toBe('undo_conflict');
      past.expectSame(before);
    }
  }
  expect(clean).toBeGreaterThan(0);
  expect(clean + conflicting).toBe(6);
});
