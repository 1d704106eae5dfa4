import { describe } from 'vitest';
import { ALL_THROWS } from './bombs.ts';
import { withstandOverHttp, withstandOverStdio } from './withstand.ts';

const MAX_HELD_MS = 50;

describe('HTTP', () => withstandOverHttp(ALL_THROWS, MAX_HELD_MS));
describe('stdio', () => withstandOverStdio(ALL_THROWS, MAX_HELD_MS));
