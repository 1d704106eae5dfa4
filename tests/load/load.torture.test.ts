import { testLoad } from '../support/load.ts';

testLoad({ clients: 1_000, seconds: Number(process.env.TORTURE_SECONDS ?? 60) });
