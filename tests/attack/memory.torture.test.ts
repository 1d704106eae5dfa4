import { MEMORY_ATTACKS } from './memory-attacks.ts';
import { testAttacks } from './watch-attacks.ts';

testAttacks(MEMORY_ATTACKS, Number(process.env.ATTACK_SCALE ?? 1));
