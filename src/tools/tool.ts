import type * as z from 'zod';
import type { AgentRoot } from '../agent/bridge/agent-root.ts';
import type { FilesystemBridge } from '../agent/bridge/filesystem-bridge.ts';
import type { Sample } from '../agent/sample.ts';
import type { OwnerNames, Root, RootPath } from '../fence/index.ts';
import type { StatThread } from '../files/list/stat-thread.ts';
import type { LineIndexCache } from '../files/read/line-index-cache.ts';
import type { Caller, OperationContext } from '../runtime/operation-context.ts';
import type { SearchPool } from '../search/index.ts';
import type { JsonChunks } from '../wire/json-chunks.ts';
import type { JsonList } from '../wire/json-list.ts';
import type { TextList } from '../wire/text-list.ts';
import type { Capability } from './capabilities.ts';
import type { Client } from './client.ts';
import type { CallError } from './errors.ts';
import type { IntendedChange } from './intended-change.ts';
import type { ResultForm } from './result-form.ts';
import type { NamedRoot } from './roots.ts';

/**
 * What a tool does to files. MCP's annotations derive from it. `create` is idempotent and `add` is not; neither loses
 * existing data. `change` may replace data, `destroy` removes it.
 */
export type Effect = 'read' | 'create' | 'add' | 'change' | 'destroy';

/** The operator's limits on results. */
export interface Limits {
  /** The largest file that is returned whole, and the most that a partial read returns, in bytes. */
  readonly maxFullReadSize: number;
}

/** A root by its kind: a folder of this machine, or client-side files. */
type ResolvedRoot =
  | { readonly root: Root; readonly agent?: undefined }
  | { readonly root?: undefined; readonly agent: AgentRoot };

/** What a tool of a dialect with one root works with. Valid for one call. */
export interface BoundRootContext extends OperationContext {
  readonly limits: Limits;
  /** Whether writes wait for the disk; false with `durable_writes: false`. */
  readonly durable: boolean;
  /**
   * Returns the one root of a dialect whose tools take no root name, checked to allow what the tool `needs`. Raises
   * `tool_not_allowed`.
   */
  boundRoot(): Root;
  /**
   * Checks one more capability, for a tool that learns only while running that it needs it. Raises `tool_not_allowed`,
   * and `changed_meanwhile` if a person would have to agree to it who was not asked.
   */
  require(root: Root, capability: Capability): void;
  /**
   * Returns the version, or `absent`, that an entry had when a person agreed to the call, for the tool to pass on as the
   * condition of its change; undefined for another entry. Itself undefined if nobody was asked.
   */
  readonly agreedVersion?: ((at: RootPath) => string | undefined) | undefined;
}

/** What the server passes to a running tool. Valid for one call. */
export interface CallContext extends BoundRootContext {
  readonly client: Client;
  readonly caller: Caller;
  /** Asks the client's model; undefined for a client without sampling support. */
  readonly sample: Sample | undefined;
  /** How the result is written for this client, and how long it may be. */
  readonly results: ResultForm;
  readonly search: SearchPool;
  /** A thread that helps to stat the entries of large folders. @internal */
  readonly statThread?: StatThread | undefined;
  /**
   * An index of line offsets shared by all calls. It holds no content. Without it, each page of a large file is read
   * from the start.
   */
  readonly lineIndex?: LineIndexCache | undefined;
  /** The names of users and groups as they were at the start; undefined to read them again. @internal */
  readonly ownerNames?: OwnerNames | undefined;
  /**
   * Returns a local root, checked to allow what the tool `needs`. Tools get roots only from this context. Raises
   * `unknown_root` and `tool_not_allowed`.
   */
  root(name: string): Root;
  /**
   * Returns a root of either kind, for a tool that also works on client-side files, checked to allow what the tool
   * `needs`. Raises `unknown_root` and `tool_not_allowed`.
   * @internal
   */
  resolveRoot(name: string): ResolvedRoot;
  /**
   * Returns the bridge to this client's own files, those of an agent root if one is named. Raises `unknown_root`,
   * `invalid_argument` if there are several agent roots and none is named, and `tool_not_allowed` for a client that has
   * no access to any root that they appear as.
   */
  agentFiles(root?: string): FilesystemBridge;
  /**
   * Raises `tool_not_allowed` for a root that is read-only, for a tool that changes one of the roots it uses and reads
   * another.
   */
  requireWritable(root: Root): void;
  /** Logs a warning about this call. `facts` must not contain file content. */
  warn(message: string, facts: Readonly<Record<string, string | number>>): void;
  /**
   * Reports that one of several paths failed, for a tool that then goes on with the others. A violation gets a line in
   * the log, as that of a call that failed.
   */
  reportFailure(path: string, error: CallError): void;
  /** Returns all roots that this client may see, for listing only. */
  allRoots(): NamedRoot[];
}

/** One tool of a dialect, which needs no more than the context `C` to run. Create it with `defineTool`. */
export interface Tool<
  I extends z.ZodObject = z.ZodObject,
  O extends z.ZodObject = z.ZodObject,
  C extends BoundRootContext = CallContext,
> {
  readonly name: string;
  /** Has to be enough for a model to use the tool without other documentation. */
  readonly description: string;
  /** The capabilities that a root must allow before this tool may use it. */
  readonly needs: readonly Capability[];
  readonly effect: Effect;
  /** Whether the tool has a time limit of its own, so that the server's `request_timeout` does not apply. */
  readonly ownTimeout?: true;
  readonly input: I;
  readonly output: O;
  /** The arguments that identify what a call is about, for the log. */
  readonly subject: readonly (keyof z.output<I> & string)[];
  /**
   * Returns what a call would change, without changing anything, so that a person can be asked first. Checks roots and
   * paths as `run` does, and raises the same errors. Only a tool whose effect is `read` has none.
   */
  changes?(args: z.output<I>, context: C): readonly IntendedChange[] | Promise<readonly IntendedChange[]>;
  /**
   * Runs the tool. Throws expected failures as a `RingfenceError`; any other error counts as a bug.
   *
   * A tool that asks the client (`context.sample`) may be run again from the start, because a client of the 2026-07-28
   * protocol sends its answer in a new call. So it must not change anything before its last question is answered.
   */
  run(args: z.output<I>, context: C): Promise<ToolResult<z.output<O>>>;
  /** Formats the result as text for people and models; by default its JSON. */
  text?(result: z.output<O>, args: z.output<I>): string;
  /**
   * Writes result and text together, for a tool whose text repeats most of the result, so that it is escaped only once.
   */
  render?(result: z.output<O>, args: z.output<I>): RenderedResult;
  /** Whether results may be cut to the client's limit (`context.results`); they then have `next`. */
  readonly paged?: true;
  /**
   * Formats the result for a model that reads text alone, as short as it can be read. A tool that has this shows no
   * schema of its result, and no structured content, to clients that are served text. A list that `run` returns as a
   * `TextList` is one here, too: see `textOf`.
   */
  readerText?(result: z.output<O>, args: z.output<I>): string;
  /** Formats the result as one line, to stand beside structured content; by default the first line of `readerText`. */
  summary?(result: z.output<O>, args: z.output<I>): string;
  /** Returns the image or audio that a result consists of, for a content block of its own before the text. */
  media?(result: z.output<O>, args: z.output<I>): MediaContent | undefined;
}

/** An image or audio content block of MCP. */
export interface MediaContent {
  readonly type: 'image' | 'audio';
  readonly mimeType: string;
  /** In base64. */
  readonly data: string;
}

/**
 * The result of a tool's `run`. Each list in it may be a `JsonList`, which is JSON already, or a `TextList` for a
 * client that is served text.
 */
export type ToolResult<T> = {
  [K in keyof T]: T[K] | (NonNullable<T[K]> extends readonly (infer Item)[] ? JsonList<Item> | TextList : never);
};

/**
 * A result and its text, both serialized. `result` is JSON; `text` is the inside of a JSON string, without its quotes.
 */
export interface RenderedResult {
  readonly result: JsonChunks;
  readonly text: JsonChunks;
  /** The size of the text in UTF-8, before escaping. */
  readonly bytes: number;
}

/**
 * A tool as `defineTool` takes it. One with `text` or `render` has to return plain lists, because those functions read
 * them.
 */
export type ToolDefinition<
  I extends z.ZodObject,
  O extends z.ZodObject,
  C extends BoundRootContext = CallContext,
> = Tool<I, O, C> &
  ({ run(args: z.output<I>, context: C): Promise<z.output<O>> } | { text?: never; render?: never }) &
  ({ effect: 'read' } | { changes: NonNullable<Tool<I, O, C>['changes']> });

/**
 * Type-checks a tool against its schemas, and returns it without their types, so that all tools fit into one list.
 */
export function defineTool<I extends z.ZodObject, O extends z.ZodObject, C extends BoundRootContext = CallContext>(
  tool: ToolDefinition<I, O, C>,
): Tool<z.ZodObject, z.ZodObject, C> {
  return tool as unknown as Tool<z.ZodObject, z.ZodObject, C>;
}
