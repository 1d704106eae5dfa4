import { testPowerCuts } from '../support/power-cuts.ts';

for (const filesystem of ['ext4', 'xfs', 'btrfs'] as const) testPowerCuts(filesystem, { rounds: 10 });
