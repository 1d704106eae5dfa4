import { fileURLToPath } from 'node:url';
import type { ServerCommand } from './clients.ts';

/** What runs now: Node and the file of the command. */
export interface RunningProgram {
  readonly node: string;
  readonly program: string;
  readonly platform: NodeJS.Platform;
}

/** Returns the Node and the file of the command that run now. */
export function runningProgram(): RunningProgram {
  const program = fileURLToPath(new URL('../../bin.js', import.meta.url));
  return { node: process.execPath, program, platform: process.platform };
}

/**
 * Returns the command line with which a client starts this installation with some arguments. The cache of npx can be
 * emptied at any time, so what runs from there is started by npx again.
 */
export function serverCommand(args: readonly string[], { node, program, platform }: RunningProgram): ServerCommand {
  if (!/[\\/]_npx[\\/]/.test(program)) return { command: node, args: [program, ...args] };
  const npx = ['npx', '-y', 'ringfence', ...args];
  // On Windows npx is a script, which only a shell can run.
  return platform === 'win32' ? { command: 'cmd', args: ['/c', ...npx] } : { command: 'npx', args: npx.slice(1) };
}
