import { describe } from 'vitest';
import { SOME_THROWS } from './bombs.ts';
import { withstandOverHttp, withstandOverStdio } from './withstand.ts';

/** Far above the 50 ms that `npm run torture` allows, since other tests run at the same time. */
const MAX_HELD_MS = 250;

describe('HTTP', () => withstandOverHttp(SOME_THROWS, MAX_HELD_MS));
// The messages of one line take the same way as over HTTP once they are parsed.
describe('stdio', () =>
  withstandOverStdio(
    SOME_THROWS.filter(({ bomb, dialect }, index) => dialect === 'workspace' && (bomb.lines || index % 3 === 0)),
    MAX_HELD_MS,
  ));
