import fs from 'node:fs';
import path from 'node:path';
import { Root } from '../../src/fence/index.ts';
import { copy } from '../../src/files/copy/copy.ts';
import { move } from '../../src/files/copy/move.ts';
import { removeEntry } from '../../src/files/remove/remove-entry.ts';
import { writeFile } from '../../src/files/write/write-file.ts';
import { changeIn, History } from '../../src/history/index.ts';
import { type Caller, DEFAULT_CONTEXT } from '../../src/runtime/operation-context.ts';
import { type Ended, type RunOptions, runRingfence } from './ringfence-process.ts';
import { tempDir } from './temp-dir.ts';

/** An agent that changes a folder with history, in this process, which has the folder open as a server has it. */
export class HistoryAgent implements Disposable {
  readonly folder: string;
  readonly #root: Root;
  readonly #history: History;

  constructor(folder = tempDir('ringfence-history-')) {
    this.folder = folder;
    this.#root = Root.open('workspace', folder);
    this.#history = History.open(this.#root);
  }

  /** The host path of a path in the folder. */
  host(name: string): string {
    return path.join(this.folder, name);
  }

  /** What a file contains; undefined if there is none. */
  text(name: string): string | undefined {
    return fs.existsSync(this.host(name)) ? fs.readFileSync(this.host(name), 'utf8') : undefined;
  }

  /** Puts a file there without the history's knowing, as another program does. */
  place(name: string, content: string | Buffer): void {
    fs.mkdirSync(path.dirname(this.host(name)), { recursive: true });
    fs.writeFileSync(this.host(name), content);
  }

  /** Writes a file and returns the id of the change. */
  write(name: string, content: string | Buffer, caller: Partial<Caller> = {}): Promise<string> {
    return this.#change('write_file', caller, async (context) => {
      await writeFile(this.#root, this.#root.parse(name), Buffer.from(content), { durable: false }, context);
    });
  }

  /** Removes an entry, a folder with everything in it, and returns the id of the change. */
  remove(name: string, caller: Partial<Caller> = {}): Promise<string> {
    return this.#change('remove_entry', caller, async (context) => {
      await removeEntry(this.#root, this.#root.parse(name), { durable: false }, context);
    });
  }

  /** Moves an entry and returns the id of the change. */
  move(from: string, to: string, caller: Partial<Caller> = {}): Promise<string> {
    return this.#change('move_entry', caller, async (context) => {
      const [source, target] = [from, to].map((name) => ({ root: this.#root, path: this.#root.parse(name) }));
      const options = { durable: false, overwrite: true, intoFolders: false };
      await move(source as never, target as never, options, context);
    });
  }

  /** Copies an entry and returns the id of the change. */
  copy(from: string, to: string, caller: Partial<Caller> = {}): Promise<string> {
    return this.#change('copy', caller, async (context) => {
      const [source, target] = [from, to].map((name) => ({ root: this.#root, path: this.#root.parse(name) }));
      await copy(source as never, target as never, { durable: false }, context);
    });
  }

  /** Runs `ringfence` with arguments, in which `@` stands for the folder. */
  run(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
    this.#history.log.writeMarks();
    return runRingfence(
      args.map((arg) => arg.replace(/^@/, this.folder)),
      options,
    );
  }

  /** Runs `ringfence`, which has to succeed, and returns what it prints. */
  async ok(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(args);
    if (code !== 0) throw new Error(`exit code ${code}: ${stderr}`);
    return stdout;
  }

  // biome-ignore lint/suspicious/noExplicitAny: what a program reads is looked into by name
  async json(...args: string[]): Promise<any> {
    return JSON.parse(await this.ok(...args, '--json'));
  }

  [Symbol.dispose](): void {
    this.#history[Symbol.dispose]();
    this.#root.close();
    fs.rmSync(this.folder, { recursive: true, force: true });
  }

  async #change(
    tool: string,
    more: Partial<Caller>,
    work: (context: typeof DEFAULT_CONTEXT) => Promise<void>,
  ): Promise<string> {
    const caller: Caller = { tool, client: 'agent', ...more };
    await work({ ...DEFAULT_CONTEXT, caller });
    return changeIn(this.#root, caller)?.id ?? '';
  }
}
