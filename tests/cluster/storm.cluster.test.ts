import { testStorm } from '../support/storm.ts';

testStorm({ clients: 200, seconds: 60, kill: 8, stop: { at: 18, seconds: 10 }, brick: 34, redis: 42, reload: 50 });
