import { RingfenceError } from '../../errors.ts';
import type { Root } from '../../fence/index.ts';
import { MAX_READ_BYTES } from '../../files/limits.ts';
import { HeldRoot } from '../../files/sweep/held-root.ts';
import { DEFAULT_CONTEXT } from '../../runtime/operation-context.ts';
import { argumentChecker, type CheckedArguments } from '../../tools/check-arguments.ts';
import type { CallContext, Tool } from '../../tools/tool.ts';
import { toArgumentsError, toStorageError } from './errors.ts';
import { memory } from './index.ts';
import { StorageError } from './storage-error.ts';
import type { FileContent } from './view.ts';

type Args = Readonly<Record<string, unknown>>;

interface Checkable {
  readonly tool: Tool;
  check(args: unknown): CheckedArguments<Args>;
}

/**
 * The six memory tools for a program, without MCP: the same operations, paths and errors. Every failure of a call is a
 * `StorageError`. Holds the folder open, so close it.
 */
export class FileStorage implements AsyncDisposable {
  readonly #held: HeldRoot;
  readonly #durable: boolean;
  readonly #tools: ReadonlyMap<string, Checkable>;
  #closed = false;

  private constructor(held: HeldRoot, durable: boolean) {
    this.#held = held;
    this.#durable = durable;
    this.#tools = new Map(memory.tools.map((tool) => [tool.name, { tool, check: argumentChecker(tool.input) }]));
  }

  /**
   * Opens a base folder by its absolute path, making it if it is missing. Throws if it cannot be used. With `durable`
   * off, calls do not wait until the disk has what they wrote.
   */
  static open(basePath: string, { durable = true }: { durable?: boolean } = {}): FileStorage {
    return new FileStorage(HeldRoot.open('memory', basePath), durable);
  }

  /** The content of a file, or the names in a folder. */
  async view(path: string): Promise<FileContent> {
    return (await this.#call('view', { path })) as FileContent;
  }

  /** Makes a new file, and the folders above it. */
  async create(path: string, content: string, encoding: 'utf-8' | 'base64'): Promise<void> {
    await this.#call('create', { path, content, encoding });
  }

  /** Replaces a text that appears exactly once. */
  async str_replace(path: string, old_str: string, new_str: string): Promise<void> {
    await this.#call('str_replace', { path, old_str, new_str });
  }

  /** Puts text above a line, counted from 1. */
  async insert(path: string, insert_line: number, new_str: string): Promise<void> {
    await this.#call('insert', { path, insert_line, new_str });
  }

  /** Removes a file or an empty folder. */
  async delete(path: string): Promise<void> {
    await this.#call('delete', { path });
  }

  /** Moves a file or folder to a path where nothing is. */
  async rename(old_path: string, new_path: string): Promise<void> {
    await this.#call('rename', { old_path, new_path });
  }

  /** Gives the folder up once running calls are done. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#held.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #call(name: string, args: Args): Promise<unknown> {
    const { tool, check } = this.#tools.get(name) as Checkable;
    const checked = check(args);
    if ('problems' in checked) throw toArgumentsError(checked.problems);
    if (this.#closed) throw new StorageError('internal_error', 'already closed');
    try {
      return await this.#held.use((root) => tool.run(checked.value, contextFor(root, this.#durable)));
    } catch (error) {
      if (error instanceof RingfenceError) throw toStorageError(error, { tool, args });
      // What an unforeseen error says may name places on the host, so it is only the cause.
      throw new StorageError('internal_error', 'Internal error', { cause: error });
    }
  }
}

/** What a server would hand to the tools, for a program that may do everything in its one folder. */
function contextFor(root: Root, durable: boolean): CallContext {
  const context: Omit<CallContext, 'search'> = {
    ...DEFAULT_CONTEXT,
    client: { key: 'process', kind: 'process', name: undefined },
    sample: undefined,
    durable,
    limits: { maxFullReadSize: MAX_READ_BYTES },
    boundRoot: () => root,
    require: () => {},
    warn: () => {},
    allRoots: () => [],
    root: () => {
      throw new Error('memory tools name no roots');
    },
    resolveRoot: () => {
      throw new Error('memory tools name no roots');
    },
    agentFiles: () => {
      throw new Error('memory tools ask no client for files');
    },
  };
  // Memory tools do not search, and a pool of threads for nothing would be dear.
  return context as CallContext;
}
