import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface Swapper extends AsyncDisposable {
  /** Waits for the end of the process and resolves with the number of exchanges. */
  finished(): Promise<number>;
  /** Ends the process, with both names where they were, and resolves with the number of exchanges. */
  stop(): Promise<number>;
}

/** Starts a process that exchanges two names in a tight loop for some seconds. Resolves after the first exchange. */
export async function startSwapper(first: string, second: string, seconds: number): Promise<Swapper> {
  const script = fileURLToPath(new URL('./swapper.js', import.meta.url));
  const child = spawn(process.execPath, [script, first, second, String(seconds)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const ended = once(child, 'close');
  await Promise.race([once(child.stdout, 'data'), ended]);
  if (!output.startsWith('ready')) throw new Error('the swapper did not start');
  const finished = async (): Promise<number> => {
    await ended;
    return Number(output.split('\n')[1]);
  };
  return {
    finished,
    stop() {
      child.kill('SIGTERM');
      return finished();
    },
    [Symbol.asyncDispose]: () => kill(child, ended),
  };
}

async function kill(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  if (child.exitCode === null) child.kill('SIGKILL');
  await ended;
}
