import type * as z from 'zod';
import type { AgentRoot } from '../agent/bridge/agent-root.ts';
import type { FilesystemBridge } from '../agent/bridge/filesystem-bridge.ts';
import type { Sample } from '../agent/sample.ts';
import type { Root } from '../fence/index.ts';
import type { StatThread } from '../files/list/stat-thread.ts';
import type { LineIndexCache } from '../files/read/line-index-cache.ts';
import type { OperationContext } from '../runtime/operation-context.ts';
import type { SearchPool } from '../search/pool/search-pool.ts';
import type { JsonChunks } from '../wire/json-chunks.ts';
import type { JsonList } from '../wire/json-list.ts';
import type { Capability } from './capabilities.ts';
import type { Client } from './client.ts';
import type { NamedRoot } from './roots.ts';

/**
 * What a tool does to files, from which its annotations derive. `create` makes what is not there yet, `add` puts in more
 * each time; neither loses anything that was there.
 */
export type Effect = 'read' | 'create' | 'add' | 'change' | 'destroy';

export interface Limits {
  /** The largest file that is returned whole, and the most that a partial read returns, in bytes. */
  readonly maxFullReadSize: number;
}

/** What a root's name stands for: a folder of this machine, or files of the client's side. */
type ResolvedRoot =
  | { readonly root: Root; readonly agent?: undefined }
  | { readonly root?: undefined; readonly agent: AgentRoot };

/** What the server hands to a running tool. */
export interface CallContext extends OperationContext {
  readonly client: Client;
  /** Asks the client's model; undefined for a client that cannot be asked. */
  readonly sample: Sample | undefined;
  readonly limits: Limits;
  readonly search: SearchPool;
  /** Helps to list large folders. @internal */
  readonly statThread?: StatThread | undefined;
  /** Shared by all calls; it holds no content. Without one, every page of a large file reads it from its beginning. */
  readonly lineIndex?: LineIndexCache | undefined;
  /** False where the operator turned off waiting for the disk (`durable_writes: false`). */
  readonly durable: boolean;
  /** The root of that name, checked to allow what the tool `needs`. The only way for a tool to get a root. */
  root(name: string): Root;
  /**
   * The root of that name for a tool that can also work on files of the client's side: `agent` if it stands for those. Checked as
   * `root` checks.
   * @internal
   */
  resolveRoot(name: string): ResolvedRoot;
  /** The one root of a dialect that is bound to it and whose tools name none; checked in the same way. */
  boundRoot(): Root;
  /**
   * What this client has handed over of the files on its side, and the way to ask for more. Raises `tool_not_allowed` for
   * a client that may not know of the root that these files appear as.
   */
  agentFiles(): FilesystemBridge;
  /** Asks for one capability more, where a tool learns only while running that it needs it. */
  require(root: Root, capability: Capability): void;
  /** Puts a warning about this call in the log. The facts name things; they never hold what is in files. */
  warn(message: string, facts: Readonly<Record<string, string | number>>): void;
  /** All roots that this client may know of, to be named, not used. */
  allRoots(): NamedRoot[];
}

export interface Tool<I extends z.ZodObject = z.ZodObject, O extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  /** Enough for a model to use it without other documentation. */
  readonly description: string;
  /** What a root must allow for this tool to touch it. */
  readonly needs: readonly Capability[];
  readonly effect: Effect;
  /** Set where a call brings its own time limit, so that the server's `request_timeout` does not apply. */
  readonly ownTimeout?: true;
  readonly input: I;
  readonly output: O;
  /** The arguments that say what a call was about, for the log. */
  readonly subject: readonly (keyof z.output<I> & string)[];
  /**
   * Does what the tool is for. Failures that a caller can do something about are thrown as errors of the parts below or as
   * `ToolError`; anything else counts as a bug.
   *
   * It may be run again, from its beginning, as long as its first question (`context.sample`) has not been answered: a client of
   * the 2026-07-28 protocol answers in a call of its own. Until then it must not change anything.
   */
  run(args: z.output<I>, context: CallContext): Promise<Returned<z.output<O>>>;
  /** What a person would read; the result as JSON if absent. */
  text?(result: z.output<O>, args: z.output<I>): string;
  /** Writes result and text at once, for a text that repeats so much of the result that to write each by itself is a waste. */
  render?(result: z.output<O>, args: z.output<I>): RenderedResult;
}

/** A result, of which lists may be in JSON already. */
type Returned<T> = { [K in keyof T]: T[K] | (T[K] extends readonly (infer Item)[] ? JsonList<Item> : never) };

/** A result and its text, each in JSON, the text without its quotes. */
export interface RenderedResult {
  readonly result: JsonChunks;
  readonly text: JsonChunks;
  /** Of the text itself. */
  readonly bytes: number;
}

/** Only the JSON of a result that is read by nobody else may be made before the result is there. */
type Definition<I extends z.ZodObject, O extends z.ZodObject> = Tool<I, O> &
  ({ run(args: z.output<I>, context: CallContext): Promise<z.output<O>> } | { text?: never; render?: never });

/** Keeps the types of one tool's arguments and result, then forgets them so that tools can stand in one list. */
export function defineTool<I extends z.ZodObject, O extends z.ZodObject>(tool: Definition<I, O>): Tool {
  return tool as unknown as Tool;
}
