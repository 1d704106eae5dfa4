// Exchanges two names in one atomic step, over and over, for some seconds or until SIGTERM: node swapper.js FIRST SECOND SECONDS
// Prints `ready` after the first exchange and, at the end, how many it made. An even number, so both end where they were.
import { createRequire } from 'node:module';
import { setImmediate as turn } from 'node:timers/promises';

const RENAMEAT2 = { x64: 316, arm64: 276 }[process.arch];
const RENAME_EXCHANGE = 2;
const AT_FDCWD = -100;

const koffi = createRequire(import.meta.url)(`@koromix/koffi-linux-${process.arch}`);
const syscall = koffi
  .load(null)
  .func('long syscall(long number, int fromfd, const char *from, int tofd, const char *to, unsigned int flags)');

const [first, second, seconds] = process.argv.slice(2);
let end = performance.now() + Number(seconds) * 1000;
let exchanges = 0;

function exchange() {
  if (Number(syscall(RENAMEAT2, AT_FDCWD, first, AT_FDCWD, second, RENAME_EXCHANGE)) !== 0) return false;
  exchanges += 1;
  return true;
}

process.once('SIGTERM', () => {
  end = 0;
});

if (!exchange()) {
  process.stderr.write(`cannot exchange: errno ${koffi.errno()}\n`);
  process.exit(1);
}
process.stdout.write('ready\n');
while (performance.now() < end) {
  for (let i = 0; i < 100; i += 1) exchange();
  await turn();
}
if (exchanges % 2 === 1) exchange();
process.stdout.write(`${exchanges}\n`);
