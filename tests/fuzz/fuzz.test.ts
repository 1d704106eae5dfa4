import { testFuzz } from '../support/fuzz.ts';

testFuzz(150);
