import { RingfenceError } from '../../errors.ts';
import type { Root } from '../../fence/index.ts';
import { MAX_READ_BYTES } from '../../files/read/read-file.ts';
import { StorageRoot } from '../../files/sweep/storage-root.ts';
import type { HistoryOptions } from '../../history/index.ts';
import { DEFAULT_CONTEXT } from '../../runtime/operation-context.ts';
import { argumentChecker, type CheckedArguments } from '../../tools/check-arguments.ts';
import type { BoundRootContext } from '../../tools/tool.ts';
import { toArgumentsError, toStorageError } from './errors.ts';
import { memoryTools } from './index.ts';
import { StorageError } from './storage-error.ts';
import type { FileContent } from './view.ts';

type Args = Readonly<Record<string, unknown>>;

interface CheckedTool {
  readonly tool: (typeof memoryTools)[number];
  check(args: unknown): CheckedArguments<Args>;
}

/** Options of `FileStorage.open`. */
export interface FileStorageOptions {
  readonly durable?: boolean;
  readonly history?: boolean | Partial<HistoryOptions> | undefined;
}

/**
 * The six memory tools as a library, without MCP, with the same paths and errors. Every failure of a method is a
 * `StorageError`. Keeps the folder open until `close`.
 */
export class FileStorage implements AsyncDisposable {
  readonly #storage: StorageRoot;
  readonly #durable: boolean;
  readonly #tools: ReadonlyMap<string, CheckedTool>;
  #closed = false;

  private constructor(storage: StorageRoot, durable: boolean) {
    this.#storage = storage;
    this.#durable = durable;
    this.#tools = new Map(memoryTools.map((tool) => [tool.name, { tool, check: argumentChecker(tool.input) }]));
  }

  /**
   * Opens a base folder by its absolute path, and creates it if it is missing. Throws if it cannot be used. Without
   * `durable`, writes do not wait for the disk. With `history`, what changes replace or remove is kept there, to be
   * brought back with `ringfence undo`.
   */
  static open(basePath: string, { durable = true, history }: FileStorageOptions = {}): FileStorage {
    return new FileStorage(StorageRoot.open('memory', basePath, { history }), durable);
  }

  /** Returns the content of a file, or the names in a folder. */
  async view(path: string): Promise<FileContent> {
    return (await this.#call('view', { path })) as FileContent;
  }

  /** Creates a file that does not exist yet, and missing folders above it. */
  async create(path: string, content: string, encoding: 'utf-8' | 'base64'): Promise<void> {
    await this.#call('create', { path, content, encoding });
  }

  /** Replaces a text that occurs exactly once in a file. */
  async str_replace(path: string, old_str: string, new_str: string): Promise<void> {
    await this.#call('str_replace', { path, old_str, new_str });
  }

  /** Inserts text above a line, counted from 1. */
  async insert(path: string, insert_line: number, new_str: string): Promise<void> {
    await this.#call('insert', { path, insert_line, new_str });
  }

  /** Deletes a file or an empty folder. */
  async delete(path: string): Promise<void> {
    await this.#call('delete', { path });
  }

  /** Moves a file or folder to a path that does not exist yet. */
  async rename(old_path: string, new_path: string): Promise<void> {
    await this.#call('rename', { old_path, new_path });
  }

  /** Closes the folder after running calls have finished. Later calls are rejected with `internal_error`. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#storage.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #call(name: string, args: Args): Promise<unknown> {
    const { tool, check } = this.#tools.get(name) as CheckedTool;
    const checked = check(args);
    if ('problems' in checked) throw toArgumentsError(checked.problems);
    if (this.#closed) throw new StorageError('internal_error', 'already closed');
    try {
      return await this.#storage.use((root) => tool.run(checked.value, contextFor(root, name, this.#durable)));
    } catch (error) {
      if (error instanceof RingfenceError) throw toStorageError(error, { tool, args });
      // The message of an unexpected error may contain host paths, so it is kept as the cause only.
      throw new StorageError('internal_error', 'Internal error', { cause: error });
    }
  }
}

/** Builds the context that a server would pass to the tools, with everything allowed on the one root. */
function contextFor(root: Root, tool: string, durable: boolean): BoundRootContext {
  return {
    ...DEFAULT_CONTEXT,
    caller: { tool, client: 'file-storage' },
    durable,
    limits: { maxFullReadSize: MAX_READ_BYTES },
    boundRoot: () => root,
    require: () => {},
  };
}
