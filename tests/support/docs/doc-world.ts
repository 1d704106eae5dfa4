import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { freePort } from '../free-port.ts';
import type { Ended } from '../ringfence-process.ts';
import { tempDir } from '../temp-dir.ts';
import { TOP } from './doc-pages.ts';

/** The port that the docs name, and the home folder that they show. */
const PORT_IN_DOCS = '8091';
const HOME_IN_DOCS = '/home/me';
/** What a reader puts in. */
const TOKEN = 'a-token-that-only-tests-have';
const WAIT_MS = 60_000;

/**
 * A home folder of somebody who follows one page, with `ringfence` on the PATH. Commands run one after another, as in one
 * terminal: the current folder and exported variables carry over.
 */
export class DocWorld implements AsyncDisposable {
  readonly home: string;
  readonly #bin: string;
  readonly #port: string;
  /** Which id of a change stands for which one in the docs. */
  readonly #ids = new Map<string, string>();
  readonly #running: ChildProcess[] = [];
  #cwd: string;
  #exports = '';

  private constructor(port: number) {
    const base = tempDir('ringfence-docs-');
    this.home = path.join(base, 'me');
    this.#bin = path.join(base, 'bin');
    this.#cwd = this.home;
    this.#port = String(port);
    for (const folder of [this.#bin, this.home, ...['project', 'notes', 'projects/site'].map((name) => this.at(name))])
      fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(this.at('project/README.md'), '# A project\n\nWith a TODO.\n');
    const bin = path.join(TOP, 'dist/bin.js');
    // The page names the default port, which may be taken on this machine. What the command line says comes later and wins.
    this.#program(
      'ringfence',
      `if [ "$1" = serve ]; then shift; set -- serve --port ${port} "$@"; fi\nexec "${process.execPath}" "${bin}" "$@"`,
    );
    // As npx would do it once the package is installed, which tests/package.test.ts tries.
    this.#program(
      'npx',
      'if [ "$1" = -y ]; then shift; fi\ncase "$1" in ringfence*) shift;; *) exit 127;; esac\nexec ringfence "$@"',
    );
  }

  static async open(): Promise<DocWorld> {
    return new DocWorld(await freePort());
  }

  /** A path below the home folder. */
  at(name: string): string {
    return path.join(this.home, name);
  }

  /** The address of the server that the page has started. */
  get base(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get env(): NodeJS.ProcessEnv {
    const { PATH, TMPDIR } = process.env;
    const unset = TMPDIR === undefined ? {} : { TMPDIR };
    return { ...unset, PATH: `${this.#bin}:${PATH}`, HOME: this.home, LANG: 'C.UTF-8', NO_COLOR: '1', TOKEN };
  }

  /** The value of a variable that the page has exported, or that a reader puts in. */
  variable(name: string): string {
    return this.exported(name) ?? TOKEN;
  }

  /** The value of a variable that the page has exported; undefined if it has not. */
  exported(name: string): string | undefined {
    return new RegExp(`^declare -x ${name}="(.*)"$`, 'm').exec(this.#exports)?.[1];
  }

  /** Puts the real home, port, package and ids in the place of those that the docs show. */
  fromDocs(text: string): string {
    const known = [...this.#ids].reduce((so, [shown, real]) => so.replaceAll(shown, real), text);
    return known
      .replaceAll(PORT_IN_DOCS, this.#port)
      .replaceAll(HOME_IN_DOCS, this.home)
      .replaceAll('_TOKEN=… ', '_TOKEN=$TOKEN ')
      .replaceAll('/path/to/ringfence/', TOP)
      .replaceAll('/path/to/', `${this.home}/`);
  }

  /** Puts what the docs show in the place of the real home and port. */
  toDocs(text: string): string {
    return text.replaceAll(this.home, HOME_IN_DOCS).replaceAll(this.#port, PORT_IN_DOCS);
  }

  /** From now on, an id in the docs stands for a real one. Reports whether it stood for no other. */
  sameId(shown: string, real: string): boolean {
    if (!this.#ids.has(shown)) this.#ids.set(shown, real);
    return this.#ids.get(shown) === real;
  }

  /** Runs lines of shell to their end, or for a minute. With answers it runs on a terminal, where each answers a question. */
  async run(script: string, answers?: readonly string[]): Promise<Ended> {
    const state = this.at('.shell-state');
    const keep = `trap 'code=$?; { pwd; export -p; } > "${state}"; exit $code' EXIT`;
    const text = `${this.#exports}\ncd "${this.#cwd}"\n${keep}\nset -eo pipefail\n${this.fromDocs(script)}\n`;
    const shell = ['bash', '--noprofile', '--norc', '-c', text] as const;
    const quoted = shell.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
    const [command, ...args] =
      answers === undefined ? shell : (['script', '--quiet', '--return', '--command', quoted, '/dev/null'] as const);
    const child = spawn(command, args, { env: this.env });
    child.stdin.on('error', () => {});
    if (answers === undefined) child.stdin.end();
    else typeAnswers(child, answers);
    const timer = setTimeout(() => child.kill('SIGKILL'), WAIT_MS);
    const ended = await output(child);
    clearTimeout(timer);
    const [cwd = this.home, ...exports] = fs.readFileSync(state, 'utf8').split('\n');
    fs.rmSync(state);
    this.#cwd = cwd;
    this.#exports = exports.filter((line) => !/^declare -x (PATH|HOME|_|OLDPWD|PWD|SHLVL)\b/.test(line)).join('\n');
    return ended;
  }

  /** Starts one line of shell that serves until it is stopped. */
  start(line: string): ChildProcessWithoutNullStreams {
    const text = `${this.#exports}\ncd "${this.#cwd}"\n${this.fromDocs(line)}`;
    // A group of its own, so that what the shell has started ends with it.
    const child = spawn('bash', ['--noprofile', '--norc', '-c', text], { env: this.env, detached: true });
    this.#running.push(child);
    return child;
  }

  /** Stops what was started. */
  async stop(): Promise<void> {
    for (const child of this.#running.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const closed = once(child, 'close');
      process.kill(-(child.pid as number), 'SIGTERM');
      await closed;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    fs.rmSync(path.dirname(this.home), { recursive: true, force: true });
  }

  #program(name: string, lines: string): void {
    fs.writeFileSync(path.join(this.#bin, name), `#!/bin/sh\n${lines}\n`, { mode: 0o755 });
  }
}

/** Types the next answer whenever a question is asked. */
function typeAnswers({ stdin, stdout }: ChildProcessWithoutNullStreams, answers: readonly string[]): void {
  const left = [...answers];
  stdout.on('data', (chunk: Buffer) => {
    if (chunk.toString().includes('[y/N]') && left.length > 0) stdin.write(`${left.shift()}\r`);
  });
}

async function output(child: ChildProcessWithoutNullStreams): Promise<Ended> {
  const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() };
}
