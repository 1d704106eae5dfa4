import { testFuzz } from '../support/fuzz.ts';

/** Of each of the nine kinds, which makes 100,000. */
const CASES = Number(process.env.TORTURE_CASES ?? 11_200);

testFuzz(CASES);
