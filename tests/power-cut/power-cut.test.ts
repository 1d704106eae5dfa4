import { testPowerCuts } from '../support/power-cuts.ts';

testPowerCuts('ext4', { rounds: 1 });
