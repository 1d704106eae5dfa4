import { RingfenceError } from '../../errors.ts';
import type { Root } from '../../fence/index.ts';
import { HeldRoot } from '../../files/sweep/held-root.ts';
import { argumentChecker, type CheckedArguments } from '../../tools/check-arguments.ts';
import { isCode } from '../../tools/errors.ts';
import { showValue } from '../../tools/show-value.ts';
import { RUN } from './command-handlers.ts';
import { COMMANDS, type CommandName } from './commands.ts';
import { wordError } from './errors.ts';

export interface MemoryToolOptions {
  /** The folder that the model sees as `/memories`: an absolute path. Made if it is missing. */
  readonly root: string;
}

/** Runs the calls of Claude's memory tool (type `memory_20250818`) on a folder that they cannot leave. */
export interface MemoryTool extends AsyncDisposable {
  /**
   * Answers one call. `command` is the `input` of its `tool_use` block, as the API sent it. Returns the text for the
   * `tool_result`, for a failure too; rejects only for a fault of the program, such as a call after `close`.
   */
  execute(command: unknown): Promise<string>;
  /** `execute` by command, in the form that `betaMemoryTool` of the Anthropic SDK takes. */
  readonly handlers: Readonly<Record<CommandName, (command: unknown) => Promise<string>>>;
  /** Gives the folder up once running calls are done. */
  close(): Promise<void>;
}

type Input = Readonly<Record<string, unknown>>;
type Runner = (root: Root, input: Input) => Promise<string>;

const NAMES = Object.keys(COMMANDS) as CommandName[];

/** Opens a folder as the model's memory. Throws if it cannot be used. */
export function createMemoryTool({ root }: MemoryToolOptions): MemoryTool {
  const held = HeldRoot.open('memories', root);
  const checks = new Map(
    NAMES.map((name) => [name, argumentChecker(COMMANDS[name]) as (value: unknown) => CheckedArguments<Input>]),
  );

  const execute = async (command: unknown): Promise<string> => {
    const name = nameOf(command);
    const check = checks.get(name as CommandName);
    if (check === undefined)
      return `Error: Unknown command: ${name === undefined ? 'none' : showValue(name)}. Commands are: ${NAMES.join(', ')}`;
    const checked = check(command);
    if ('problems' in checked) return `Error: ${checked.problems.map(({ message }) => message).join('; ')}`;
    const run = RUN[name as CommandName] as Runner;
    try {
      return await held.use((opened) => run(opened, checked.value));
    } catch (error) {
      if (!(error instanceof RingfenceError) || isCode(error, 'internal')) throw error;
      return wordError(error, name as CommandName, checked.value);
    }
  };

  const handlers = Object.fromEntries(NAMES.map((name) => [name, execute])) as MemoryTool['handlers'];
  const close = (): Promise<void> => held.close();
  return { execute, handlers, close, [Symbol.asyncDispose]: close };
}

function nameOf(command: unknown): unknown {
  return typeof command === 'object' && command !== null && 'command' in command ? command.command : undefined;
}
