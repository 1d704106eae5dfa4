import { expect, test } from 'vitest';
import { killAppends } from '../support/killed-appends.ts';

const KILLS = 150;

test.each(['openat2', 'procfd'])(
  'of a process that is killed on %s, every append is there whole or not at all',
  async (fence) => {
    const { torn } = await killAppends(KILLS, fence);
    console.log(`${fence}: ${KILLS} kills during appends of 9 MB, ${torn} were torn, all of them undone`);
    expect(torn).toBeGreaterThan(0);
  },
);
