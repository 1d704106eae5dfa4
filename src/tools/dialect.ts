import type { FilesystemBridge } from '../agent/bridge/filesystem-bridge.ts';
import type { CallError } from './errors.ts';
import type { Tool } from './tool.ts';

/** One argument that does not fit a tool's input schema. */
export interface ArgumentProblem {
  /** `path`, or `files.0.path` for a nested one; empty if the arguments as a whole are wrong. */
  readonly argument: string;
  readonly kind: 'missing' | 'unknown' | 'invalid';
  /** One sentence saying what is wrong and what would be right. */
  readonly message: string;
}

/** The call that an error text is about. */
export interface FailedCall {
  readonly tool: Pick<Tool, 'name'>;
  /** As the client sent them, unchecked. */
  readonly args: Readonly<Record<string, unknown>>;
  /** What the client has handed over of the files on its side; undefined where there is nothing it could. */
  agentFiles?(): FilesystemBridge | undefined;
}

/** A set of tools under one contract: their names, their wording, their error form. Never an operation of its own. */
export interface Dialect {
  readonly name: string;
  /** How the server introduces itself to clients. */
  readonly serverName: string;
  /** Where the contract fixes it; else that of the package. */
  readonly serverVersion?: string;
  /** What a model should know before its first call. */
  readonly instructions: string;
  readonly tools: readonly Tool[];
  /** Its tools take in files of the client's side, which the client can read back as resources. */
  readonly takesFiles?: boolean;
  /** MCP's destructiveHint by effect; some contracts fix it. */
  destructive(tool: Tool): boolean;
  /** The error text a client sees. Never shows a host path. */
  formatError(error: CallError, call: FailedCall): string;
  /** The same for arguments that do not fit the tool's schema. */
  formatProblems(problems: readonly ArgumentProblem[], call: FailedCall): string;
}

/** A dialect with the tools of another beside its own. Each tool keeps the contract that it comes from. */
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
