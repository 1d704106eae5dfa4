import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const BIN = fileURLToPath(new URL('../../dist/bin.js', import.meta.url));
const WAIT_MS = 15_000;

/** Why no terminal can be had here; undefined if one can. */
export const noTerminal: string | undefined =
  spawnSync('script', ['--version']).error === undefined ? undefined : 'needs script(1) of util-linux';

/** A question to wait for, and what to type then. `\u0004` is the end of input. */
export type Exchange = readonly [question: string, answer: string];

/**
 * Runs `ringfence` on a terminal of its own, answers questions in their order, and returns all that it showed. Raises an
 * error if a question does not come. `beforeAnswer` ends before each answer is typed.
 */
export async function runOnTerminal(
  args: readonly string[],
  exchanges: readonly Exchange[] = [],
  env: Readonly<Record<string, string>> = {},
  beforeAnswer: () => Promise<unknown> = async () => {},
): Promise<{ readonly code: number | null; readonly screen: string }> {
  const quote = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;
  const command = [process.execPath, BIN, ...args].map(quote).join(' ');
  const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, NO_COLOR: '', TERM: 'xterm', ...env },
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), WAIT_MS);
  let screen = '';
  let seen = 0;
  const left = [...exchanges];
  child.stdout.on('data', (chunk: Buffer) => {
    screen += chunk.toString();
    for (const [question, answer] of left.slice()) {
      const at = screen.indexOf(question, seen);
      if (at === -1) break;
      seen = at + question.length;
      left.shift();
      void beforeAnswer().then(() => child.stdin.write(answer === '\u0004' ? answer : `${answer}\r`));
    }
  });
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(timer);
  if (left.length > 0) throw new Error(`"${left[0]?.[0]}" was not asked:\n${screen}`);
  return { code, screen: screen.replaceAll('\r\n', '\n') };
}
