import { type Channel, parseMessage } from '../../client/channel.ts';
import { ClientError } from '../../client/client-error.ts';
import { type CallResult, type ListedTool, McpClient } from '../../client/mcp-client.ts';
import type { Config } from '../../config/config.ts';
import { ConfigError } from '../../config/config-error.ts';
import { chosenConfig } from '../../config/file/chosen-config.ts';
import { packageVersion } from '../../config/program/package-files.ts';
import { printable } from '../../runtime/printable.ts';
import { didYouMean } from '../../tools/nearest.ts';
import { CommandError } from '../terminal/command-error.ts';
import { Output, printNote } from '../terminal/output.ts';
import { canAsk, Questions } from '../terminal/questions.ts';
import { readArgumentFile, readStdin } from './argument-file.ts';
import { loadContents, missingArguments, splitArguments, toArguments } from './arguments.ts';
import { withDefaults } from './default-arguments.ts';
import { ProgressBar } from './progress-bar.ts';
import { showResult, textOf } from './render/show-result.ts';
import type { Schema } from './schema.ts';
import { showTool, showTools } from './show-tools.ts';

const EXIT_UNREACHABLE = 3;
const EXIT_CANCELLED = 130;

/** The options of `ringfence call`. */
export interface CallFlags {
  readonly root?: readonly string[];
  readonly config?: string;
  readonly url?: string;
  readonly dialect?: string;
  readonly list?: boolean;
  readonly json?: boolean;
}

/** A connection to a server. */
interface Connection {
  readonly channel: Channel;
  close(): Promise<void>;
}

/** Starts a server within this process that speaks the named dialect, or that of the config. Raises `ConfigError`. */
export type StartLocalServer = (config: Config, dialect: string | undefined) => Promise<Connection>;

/** What is called, and with what. */
export interface WrittenCall {
  readonly tool: string | undefined;
  readonly words: readonly string[];
  readonly flags: CallFlags;
}

/** Calls a tool and shows its result, or lists the tools. Raises `ConfigError` and `CommandError`. */
export async function call({ tool, words, flags }: WrittenCall, startLocalServer: StartLocalServer): Promise<void> {
  const output = new Output();
  // Before the kernel confines this process to the roots.
  const written = await loadContents(splitArguments(words), { file: readArgumentFile, stdin: readStdin });
  const cancel = new AbortController();
  process.on('SIGINT', () => (cancel.signal.aborted ? process.exit(EXIT_CANCELLED) : cancel.abort()));
  using bar = new ProgressBar(tool ?? '');
  const connected = await connect(flags, startLocalServer);
  try {
    const client = await McpClient.connect(
      connected.channel,
      { name: 'ringfence-call', version: packageVersion(), confirm: canAsk() ? askOver(bar) : undefined },
      cancel.signal,
    );
    const tools = await client.listTools(cancel.signal);
    if (tool === undefined || flags.list) return list(output, tools, tool, flags);
    const found = toolNamed(tools, tool);
    const schema = found.inputSchema as Schema;
    const given = toArguments(written, schema);
    const args = await withDefaults(given, found, { client, tools });
    const [missing] = missingArguments(args, schema);
    if (missing !== undefined)
      throw new ConfigError(`${tool} needs ${missing}=…; "ringfence call --list ${tool}" says more`);
    const { signal } = cancel;
    const result = await client.callTool(tool, args, { signal, onProgress: (progress) => bar.update(progress) });
    bar.clear();
    if (result.isError) throw new CommandError(`${tool}: ${oneLine(failureText(result)) || 'failed'}`);
    if (flags.json) output.json(result.structuredContent ?? { content: result.content ?? [] });
    else showResult(output, result, args);
    await output.flushed();
  } catch (error) {
    bar.clear();
    throw error instanceof ClientError ? commandError(error) : error;
  } finally {
    await connected.close();
  }
}

async function connect(
  { root = [], config, url, dialect }: CallFlags,
  startLocalServer: StartLocalServer,
): Promise<Connection> {
  if ([root.length > 0, config !== undefined, url !== undefined].filter(Boolean).length > 1) {
    throw new ConfigError('give one of --root, --config and --url');
  }
  if (url !== undefined) {
    const { openHttpChannel } = await import('./http-server.ts');
    const channel = openHttpChannel(url, dialect);
    return { channel, close: () => channel.close() };
  }
  return startLocalServer(await chosenConfig(config, root), dialect);
}

async function list(
  output: Output,
  tools: readonly ListedTool[],
  name: string | undefined,
  { json }: CallFlags,
): Promise<void> {
  const shown = name === undefined ? tools : [toolNamed(tools, name)];
  if (json) output.json(shown);
  else if (name === undefined) showTools(output, tools);
  else for (const tool of shown) showTool(output, tool);
  await output.flushed();
}

function toolNamed(tools: readonly ListedTool[], name: string): ListedTool {
  const found = tools.find((tool) => tool.name === name);
  if (found !== undefined) return found;
  const names = tools.map((tool) => tool.name);
  throw new ConfigError(`unknown tool "${printable(name)}"${didYouMean(name, names)}; there are ${names.join(', ')}`);
}

/** Returns how the person at the terminal is asked to agree to a call. */
function askOver(bar: ProgressBar): (message: string) => Promise<boolean> {
  return async (message) => {
    bar.clear();
    using questions = new Questions();
    return await questions.confirm(printable(message));
  };
}

function commandError(error: ClientError): Error {
  if (error.kind === 'refused') return new CommandError(oneLine(error.message));
  return new CommandError(error.message, error.kind === 'cancelled' ? EXIT_CANCELLED : EXIT_UNREACHABLE);
}

/** Returns why a tool failed. Some dialects say it in JSON. */
function failureText({ content = [] }: CallResult): string {
  const text = textOf(content);
  const said = text.startsWith('{') ? parseMessage(text)?.message : undefined;
  return typeof said === 'string' ? said : text;
}

/** Failures are one line, as everywhere. A longer text of a tool goes before it. */
function oneLine(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  for (const line of lines.slice(1)) printNote(printable(line));
  return printable(lines[0] ?? '');
}
