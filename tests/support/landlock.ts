import { execFileSync } from 'node:child_process';

/** Why the kernel here cannot confine a process as the tests need it; undefined if it can. */
export const LANDLOCK_PROBLEM: string | undefined = landlockProblem();

function landlockProblem(): string | undefined {
  if (process.platform !== 'linux') return 'needs Linux';
  const script = `const koffi = require('@koromix/koffi-linux-${process.arch}');
    const call = koffi.load(null).func('long syscall(long number, const void *attributes, size_t size, uint32_t flags)');
    process.stdout.write(String(call(444, null, 0, 1)));`;
  const abi = Number(execFileSync(process.execPath, ['-e', script], { encoding: 'utf8', cwd: import.meta.dirname }));
  return abi >= 4 ? undefined : `needs a kernel with Landlock ABI 4, has ${abi}`;
}
