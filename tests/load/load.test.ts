import { testLoad } from '../support/load.ts';

testLoad({ clients: 100, seconds: 3 });
