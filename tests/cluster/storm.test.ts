import { testStorm } from '../support/storm.ts';

testStorm({ clients: 24, seconds: 22, kill: 2, stop: { at: 5, seconds: 9 }, brick: 8, redis: 15, reload: 17 });
