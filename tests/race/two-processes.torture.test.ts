import { testTwoProcesses } from '../support/two-processes.ts';

testTwoProcesses(5_000);
