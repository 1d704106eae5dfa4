import { type ChildProcessWithoutNullStreams, type SpawnOptions, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { asNobody } from './child.ts';
import { tempDir } from './temp-dir.ts';

const BIN = fileURLToPath(new URL('../../dist/bin.js', import.meta.url));

export interface ProcessOptions {
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
  /** Run as nobody, who owns nothing and may override no permission. */
  readonly unprivileged?: boolean;
  /** The program that Node runs; `ringfence` from dist/ if left out. */
  readonly program?: string | undefined;
  /** Options of Node itself. */
  readonly nodeOptions?: readonly string[];
  /** Pipes if left out. */
  readonly stdio?: SpawnOptions['stdio'];
}

/** Starts `ringfence` with arguments. The caller has to end it. */
export function spawnRingfence(args: readonly string[], options: ProcessOptions = {}): ChildProcessWithoutNullStreams {
  const { env = {}, cwd, unprivileged = false, program = BIN, nodeOptions = [], stdio = 'pipe' } = options;
  const node = [process.execPath, ...nodeOptions, program, ...args];
  const [command = '', ...rest] = unprivileged ? asNobody(node) : node;
  const settings = { env: { ...process.env, ...env }, stdio, ...(cwd && { cwd }) };
  return spawn(command, rest, settings) as ChildProcessWithoutNullStreams;
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions extends ProcessOptions {
  readonly stdin?: string;
}

/** Runs `ringfence` with arguments to its end, or kills it after 15 s. */
export async function runRingfence(
  args: readonly string[],
  { stdin = '', ...options }: RunOptions = {},
): Promise<Ended> {
  const child = spawnRingfence(args, options);
  // It may end without reading what it is sent.
  child.stdin.on('error', () => {});
  const timer = setTimeout(() => child.kill('SIGKILL'), 15_000);
  const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  child.stdin.end(stdin);
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(timer);
  return { code, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() };
}

/** Writes a config file into a folder of its own and returns its path. */
export function writeConfig(config: unknown): string {
  const file = path.join(tempDir('ringfence-config-'), 'ringfence.yaml');
  fs.writeFileSync(file, typeof config === 'string' ? config : stringify(config));
  return file;
}

// biome-ignore lint/suspicious/noExplicitAny: log lines are looked into by name
export type LogLine = Record<string, any>;

const WAIT_MS = 15_000;

/** The log that a process writes to stderr. */
export class ProcessLog {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #more = new EventEmitter().setMaxListeners(0);
  #text = '';

  constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child;
    child.stderr.on('data', (chunk: Buffer) => {
      this.#text += chunk;
      this.#more.emit('more');
    });
  }

  /** Everything on stderr so far. */
  get text(): string {
    return this.#text;
  }

  /** The lines so far that are JSON. */
  lines(): LogLine[] {
    return this.#text.split('\n').flatMap(parseLine);
  }

  /** Resolves with the first line that matches. Rejects after 15 s, or once the process has ended without one. */
  async waitFor(matches: (line: LogLine) => boolean): Promise<LogLine> {
    const deadline = AbortSignal.timeout(WAIT_MS);
    for (;;) {
      const found = this.lines().find(matches);
      if (found !== undefined) return found;
      if (deadline.aborted || this.#child.stderr.readableEnded) throw new Error(`no such log line in:\n${this.#text}`);
      const signal = AbortSignal.any([deadline, AbortSignal.timeout(250)]);
      await once(this.#more, 'more', { signal }).catch(() => {});
    }
  }
}

function parseLine(line: string): LogLine[] {
  if (!line.startsWith('{')) return [];
  try {
    return [JSON.parse(line) as LogLine];
  } catch {
    // The last line may be half written.
    return [];
  }
}
