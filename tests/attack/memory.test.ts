import { MEMORY_ATTACKS } from './memory-attacks.ts';
import { testAttacks } from './watch-attacks.ts';

// The two that are quick to take much.
testAttacks(
  MEMORY_ATTACKS.filter(({ name }) => /^many /.test(name)),
  0.35,
);
