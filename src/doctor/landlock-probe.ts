// Runs in a process of its own: confines itself as a server would, tries what is ruled out, and prints what came of it.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { LandlockError, type LandlockPolicy, restrictProcess } from '../hardening/landlock.ts';
import type { LandlockTrial, TrialOutcomes } from './landlock-trial.ts';

const { policy, writable, readable, outside, port, otherPort, program } = JSON.parse(
  process.argv[2] ?? '',
) as LandlockTrial;

/** `done`, or the code of the error. */
async function outcome(work: () => unknown): Promise<string> {
  try {
    await work();
    return 'done';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'failed';
  }
}

function listen(on: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = net.createServer();
    server.once('error', reject);
    server.listen(on, '127.0.0.1', () => server.close(() => resolve()));
  });
}

function connect(to: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(to, '127.0.0.1', () => resolve(void socket.destroy()));
    socket.once('error', reject);
  });
}

async function probe(limits: LandlockPolicy): Promise<TrialOutcomes> {
  const status = await restrictProcess(limits);
  const run = (): void => {
    const { error } = spawnSync(program);
    if (error !== undefined) throw error;
  };
  return {
    status,
    outcomes: {
      'read a writable root': await outcome(() => fs.readFileSync(path.join(writable, 'file'))),
      'write to a writable root': await outcome(() => fs.writeFileSync(path.join(writable, 'new'), 'x')),
      'read a read-only root': await outcome(() => fs.readFileSync(path.join(readable, 'file'))),
      'write to a read-only root': await outcome(() => fs.writeFileSync(path.join(readable, 'file'), 'x')),
      'read a file outside': await outcome(() => fs.readFileSync(path.join(outside, 'file'))),
      'read a file outside, on a thread of the pool': await outcome(() =>
        fs.promises.readFile(path.join(outside, 'file')),
      ),
      'list a folder outside': await outcome(() => fs.readdirSync(outside)),
      'write to a file outside': await outcome(() => fs.writeFileSync(path.join(outside, 'file'), 'x')),
      'create a file outside': await outcome(() => fs.writeFileSync(path.join(outside, 'new'), 'x')),
      'remove a file outside': await outcome(() => fs.rmSync(path.join(outside, 'file'))),
      'run a program': await outcome(run),
      'listen on the configured port': await outcome(() => listen(port)),
      'listen on another port': await outcome(() => listen(otherPort)),
      'connect to a port': await outcome(() => connect(port)),
    },
  };
}

try {
  process.stdout.write(JSON.stringify(await probe(policy)));
} catch (error) {
  if (!(error instanceof LandlockError)) throw error;
  process.stdout.write(JSON.stringify({ problem: error.message }));
}
