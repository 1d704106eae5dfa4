import type { FilesystemBridge } from '../agent/bridge/filesystem-bridge.ts';
import type { CallError } from './errors.ts';
import type { Roots } from './roots.ts';
import type { Tool } from './tool.ts';

/** One argument that does not fit a tool's input schema. */
export interface ArgumentProblem {
  /** `path`, or `files.0.path` for a nested one; empty if the arguments as a whole are wrong. */
  readonly argument: string;
  readonly kind: 'missing' | 'unknown' | 'invalid';
  /** One sentence that says what is wrong and what was expected. */
  readonly message: string;
}

/** The call that an error text is about. */
export interface FailedCall {
  readonly tool: Pick<Tool, 'name'>;
  /** The arguments as the client sent them, unchecked. */
  readonly args: Readonly<Record<string, unknown>>;
  /** The roots that the client may know of, for hints. */
  readonly roots?: Roots;
  /**
   * Returns the files that the client handed over, of a root if it names one; undefined if the service has no
   * client-side files. Raises `unknown_root` and `invalid_argument`.
   */
  agentFiles?(root?: string): FilesystemBridge | undefined;
}

/** The name of the root that warm-up calls work on: the folder of this package. */
export const WARM_UP_ROOT = 'ringfence';

/** A call that reads a file or folder of this package. */
export interface WarmUpCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/**
 * A set of tools under one contract: tool names, texts and error format. The operations themselves are in `files/` and
 * `search/`.
 */
export interface Dialect {
  readonly name: string;
  /** The server name in the `initialize` result. */
  readonly serverName: string;
  /** The server version, if the contract fixes one; by default that of the package. */
  readonly serverVersion?: string;
  /** The `instructions` of the `initialize` result: what a model needs to know before its first call. */
  readonly instructions: string;
  readonly tools: readonly Tool[];
  /**
   * Whether `tools/list` leaves out of schemas what a model can do without, because it is paid for in every
   * conversation.
   */
  readonly terseSchemas?: boolean;
  /**
   * Calls that are run, on this package's own files, before a client makes its first: what clients are likely to ask
   * for.
   */
  readonly warmUpCalls?: readonly WarmUpCall[];
  /** Whether its tools accept client-side files, which the client can then read as resources. */
  readonly takesFiles?: boolean;
  /** Whether the files of its roots can be read as resources. */
  readonly showsFiles?: boolean;
  /** Returns MCP's `destructiveHint` for a tool. Some contracts fix it, others derive it from the tool's effect. */
  destructive(tool: Tool): boolean;
  /** Returns the text that a client sees for an error. Never shows a host path. */
  formatError(error: CallError, call: FailedCall): string;
  /** Returns the text that a client sees for arguments that do not match the tool's schema. */
  formatProblems(problems: readonly ArgumentProblem[], call: FailedCall): string;
}

/**
 * Combines two dialects into one with the tools of both. Each tool keeps the error format and hints of its own dialect.
 */
export function mergeDialects(main: Dialect, other: Dialect): Dialect {
  const names = new Set(other.tools.map(({ name }) => name));
  const of = ({ name }: Pick<Tool, 'name'>): Dialect => (names.has(name) ? other : main);
  return {
    ...main,
    takesFiles: main.takesFiles === true || other.takesFiles === true,
    instructions: `${main.instructions} ${other.instructions}`,
    tools: [...main.tools, ...other.tools],
    destructive: (tool) => of(tool).destructive(tool),
    formatError: (error, call) => of(call.tool).formatError(error, call),
    formatProblems: (problems, call) => of(call.tool).formatProblems(problems, call),
  };
}
