import { describe, expect, test } from 'vitest';
import { BACKEND_NAMES } from '../fence/index.ts';
import { PastBox } from './past-box.fixture.ts';
import { furnishOddly, randomNumbers, workRandomly } from './random-work.fixture.ts';

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
