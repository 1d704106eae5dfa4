import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';

const PATIENCE_MS = 3_000;

const running = new Set();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/**
 * Starts a program whose stdin and stdout we hold, and which ends with us at the latest. Its stderr is dropped, so that no
 * contender pays for our reading it.
 */
export function startChild(command, args) {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  child.stdin.on('error', () => {});
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/** Ends one program, by its id, and waits for that. */
export async function endChild(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const force = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
  await ended;
  clearTimeout(force);
}

/** Runs a program to its end and returns what it printed, with the time from start to end. Some programs exit 1 for "found nothing". */
export async function runToEnd(command, args, { okCodes = [0], cwd } = {}) {
  const started = performance.now();
  const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'ignore'] });
  const chunks = [];
  child.stdout.on('data', (chunk) => chunks.push(chunk));
  const [code] = await once(child, 'close');
  const ms = performance.now() - started;
  if (!okCodes.includes(code)) throw new Error(`${command} ended with ${code}`);
  return { ms, output: Buffer.concat(chunks) };
}

/** A memory figure of a running program in bytes: `VmRSS` now, `VmHWM` at its highest. Undefined where there is no procfs. */
export function memoryOf({ pid }, figure) {
  try {
    const status = fs.readFileSync(`/proc/${pid}/status`, 'utf8');
    const kilobytes = new RegExp(`^${figure}:\\s+(\\d+) kB`, 'm').exec(status)?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
  } catch {
    return undefined;
  }
}
