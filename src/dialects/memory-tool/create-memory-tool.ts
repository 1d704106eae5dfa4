import { RingfenceError } from '../../errors.ts';
import type { Root } from '../../fence/index.ts';
import { StorageRoot } from '../../files/sweep/storage-root.ts';
import type { HistoryOptions } from '../../history/index.ts';
import { DEFAULT_CONTEXT, type OperationContext } from '../../runtime/operation-context.ts';
import { argumentChecker, type CheckedArguments } from '../../tools/check-arguments.ts';
import { isCode } from '../../tools/errors.ts';
import { showValue } from '../../tools/show-value.ts';
import { COMMAND_HANDLERS } from './command-handlers.ts';
import { COMMANDS, type CommandName } from './commands.ts';
import { formatError } from './errors.ts';

/** The options of `createMemoryTool`. */
export interface MemoryToolOptions {
  /** The absolute path of the folder that the model sees as `/memories`. Created if it is missing. */
  readonly root: string;
  /**
   * Whether what the model's changes replace or remove is kept in the folder, to be brought back with `ringfence undo`:
   * `true` for 7 days and 1 GB, or how much of it. By default nothing is.
   */
  readonly history?: boolean | Partial<HistoryOptions> | undefined;
}

/** Runs calls of Claude's memory tool (type `memory_20250818`), confined to one folder. */
export interface MemoryTool extends AsyncDisposable {
  /**
   * Runs one call. `command` is the `input` of its `tool_use` block, as the API sent it. Resolves with the text for the
   * `tool_result`, also for an expected failure. Rejects only for a bug, such as a call after `close`.
   */
  execute(command: unknown): Promise<string>;
  /** `execute` for each command, in the form that `betaMemoryTool` of the Anthropic SDK expects. */
  readonly handlers: Readonly<Record<CommandName, (command: unknown) => Promise<string>>>;
  /** Closes the folder after running calls have finished. */
  close(): Promise<void>;
}

type CommandFields = Readonly<Record<string, unknown>>;
type CommandHandler = (root: Root, input: CommandFields, context: OperationContext) => Promise<string>;

/** Who made a change, in the history. */
const CLIENT = 'memory-tool';
const NAMES = Object.keys(COMMANDS) as CommandName[];

/** Opens a folder for Claude's memory tool. Throws if it cannot be used. */
export function createMemoryTool({ root, history }: MemoryToolOptions): MemoryTool {
  const storage = StorageRoot.open('memories', root, { history });
  const checks = new Map(
    NAMES.map((name) => [name, argumentChecker(COMMANDS[name]) as (value: unknown) => CheckedArguments<CommandFields>]),
  );

  const execute = async (command: unknown): Promise<string> => {
    const name = nameOf(command);
    const check = checks.get(name as CommandName);
    if (check === undefined)
      return `Error: Unknown command: ${name === undefined ? 'none' : showValue(name)}. Commands are: ${NAMES.join(', ')}`;
    const checked = check(command);
    if ('problems' in checked) return `Error: ${checked.problems.map(({ message }) => message).join('; ')}`;
    const run = COMMAND_HANDLERS[name as CommandName] as CommandHandler;
    const context = { ...DEFAULT_CONTEXT, caller: { tool: name as CommandName, client: CLIENT } };
    try {
      return await storage.use((opened) => run(opened, checked.value, context));
    } catch (error) {
      if (!(error instanceof RingfenceError) || isCode(error, 'internal')) throw error;
      return formatError(error, name as CommandName, checked.value);
    }
  };

  const handlers = Object.fromEntries(NAMES.map((name) => [name, execute])) as MemoryTool['handlers'];
  const close = (): Promise<void> => storage.close();
  return { execute, handlers, close, [Symbol.asyncDispose]: close };
}

function nameOf(command: unknown): unknown {
  return typeof command === 'object' && command !== null && 'command' in command ? command.command : undefined;
}
