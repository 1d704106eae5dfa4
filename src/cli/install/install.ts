import os from 'node:os';
import path from 'node:path';
import { loadConfig } from '../../config/file/load-config.ts';
import { configFromDirs } from '../../config/folders/config-from-dirs.ts';
import { unifiedDiff } from '../../files/edit/diff/unified-diff.ts';
import { CommandError } from '../terminal/command-error.ts';
import { Output, safeLine } from '../terminal/output.ts';
import { makeClientFolder, readClientFile, removeClientFile, writeClientFile } from './client-file.ts';
import { CLIENTS, entryFor, type Machine, type McpClient } from './clients.ts';
import { EntryError } from './entry-error.ts';
import { jsonEntry, withJsonEntry, withoutJsonEntry } from './json-entry.ts';
import { runningProgram, serverCommand } from './server-command.ts';
import { tomlEntry, withoutTomlEntry, withTomlEntry } from './toml-entry.ts';

/** What `ringfence install` was told. */
export interface InstallFlags {
  readonly root?: readonly string[];
  readonly config?: string;
  readonly print?: boolean;
  readonly uninstall?: boolean;
}

/** The name of the entry in every client. */
const ENTRY_NAME = 'ringfence';
const BACKUP = '.before-ringfence';
const BOM = '\ufeff';

type Entry = Record<string, unknown>;

/** Returns the machine that this process runs on. */
export function thisMachine(): Machine {
  return { platform: process.platform, env: process.env, home: os.homedir() };
}

/** Writes the entry of this server into the config of a client, or removes it. Raises `CommandError`. */
export async function install(id: string, flags: InstallFlags): Promise<void> {
  const client = CLIENTS.find((each) => each.id === id) as McpClient;
  const file = client.configFile(thisMachine());
  try {
    if (flags.uninstall) uninstallFrom(client, file, flags);
    else installInto(client, file, entryFor(client, serverCommand(await argumentsOf(flags), runningProgram())), flags);
  } catch (error) {
    if (!(error instanceof EntryError)) throw error;
    throw new CommandError(`${file} was left alone: ${error.message}`);
  }
}

/** Returns the arguments that the client starts the server with. Without any flag, these are about the current folder. */
async function argumentsOf({ root = [], config }: InstallFlags): Promise<string[]> {
  if (config !== undefined && root.length > 0) throw new CommandError('give either --root or --config, not both');
  if (config !== undefined) {
    const file = path.resolve(config);
    await loadConfig(file);
    return ['stdio', '--config', file];
  }
  const folders = (root.length > 0 ? root : ['.']).map((folder) => path.resolve(folder));
  if (root.length === 0 && [os.homedir(), path.parse(process.cwd()).root].includes(process.cwd()))
    throw new CommandError('this would open everything here to the agent; name the folders with --root DIR');
  configFromDirs(folders);
  return ['stdio', ...folders];
}

function installInto(client: McpClient, file: string, entry: Entry, { print }: InstallFlags): void {
  const read = readClientFile(file);
  const text = decode(read.content);
  const backupFile = read.path + BACKUP;
  const backup = readClientFile(backupFile);
  const old = entryIn(client, text);
  const base = backup.content !== undefined && isInstalledOver(client, decode(backup.content), text);
  const after = base ? withEntry(client, decode(backup.content), entry) : withEntry(client, text, entry);
  const output = new Output();
  if (read.content !== undefined && after === text) {
    output.line(`${client.title} has this entry already; nothing to do: ${file}`);
    return;
  }
  if (print) {
    printDiff(output, file, read.content, Buffer.from(after));
    return;
  }
  if (read.content === undefined) {
    const { env, home } = thisMachine();
    makeClientFolder(file, (client.id === 'codex' && env.CODEX_HOME) || home);
  } else if (old === undefined || backup.content === undefined) {
    writeClientFile(backup, read.content, read.path);
    output.line(`kept the file as it was: ${backupFile}`);
  }
  writeClientFile(read, Buffer.from(after));
  output.line(`${client.title} starts ringfence from now on: ${file}`);
  output.line(`Restart it to use the server. To take this back: ringfence install ${client.id} --uninstall`);
}

function uninstallFrom(client: McpClient, file: string, { print }: InstallFlags): void {
  const read = readClientFile(file);
  const text = decode(read.content);
  const entry = entryIn(client, text);
  const output = new Output();
  if (entry === undefined) {
    output.line(`${client.title} has no entry of ringfence; nothing to do: ${file}`);
    return;
  }
  const backup = readClientFile(read.path + BACKUP);
  const before = backup.content && decode(backup.content);
  const restored = backup.content !== undefined && isInstalledOver(client, before ?? '', text);
  const isAllOfIt = backup.content === undefined && withEntry(client, '', entry as Entry) === text;
  const after = restored ? backup.content : isAllOfIt ? undefined : Buffer.from(withoutEntry(client, text, before));
  if (print) {
    printDiff(output, file, read.content, after);
    return;
  }
  if (after === undefined) {
    removeClientFile(read.path);
    output.line(`removed ${file}, in which nothing else was`);
    return;
  }
  writeClientFile(read, after);
  if (restored) {
    removeClientFile(backup.path);
    output.line(`${file} is as it was before`);
    return;
  }
  output.line(`removed the entry of ringfence, and nothing else, from ${file}`);
  if (backup.content !== undefined) output.line(`the file as it was before is still in ${backup.path}`);
}

/** Reports whether a text is what installing its entry into another makes of that one. */
function isInstalledOver(client: McpClient, before: string, text: string): boolean {
  const entry = entryIn(client, text) as Entry | undefined;
  if (entry === undefined) return false;
  const own = Object.fromEntries(
    ['type', 'command', 'args'].flatMap((key) => (key in entry ? [[key, entry[key]]] : [])),
  );
  try {
    return withEntry(client, before, own) === text;
  } catch {
    return false;
  }
}

function entryIn({ format, key }: McpClient, text: string): unknown {
  const place = { key, name: ENTRY_NAME };
  const entry = (format === 'json' ? jsonEntry : tomlEntry)(bare(text), place);
  if (entry !== undefined && (typeof entry !== 'object' || entry === null))
    throw new EntryError(`${key}.${ENTRY_NAME} is not what it should be; correct it or remove it by hand`);
  return entry;
}

function withEntry({ format, key }: McpClient, text: string, entry: Entry): string {
  const place = { key, name: ENTRY_NAME };
  return bomOf(text) + (format === 'json' ? withJsonEntry : withTomlEntry)(bare(text), place, entry);
}

function withoutEntry({ format, key }: McpClient, text: string, before: string | undefined): string {
  const place = { key, name: ENTRY_NAME };
  if (format === 'toml') return bomOf(text) + withoutTomlEntry(bare(text), place);
  return bomOf(text) + withoutJsonEntry(bare(text), place, before !== undefined && !before.includes(`"${key}"`));
}

function decode(content: Buffer | undefined): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content ?? Buffer.alloc(0));
  } catch {
    throw new EntryError('it is not UTF-8');
  }
}

function bomOf(text: string): string {
  return text.startsWith(BOM) ? BOM : '';
}

function bare(text: string): string {
  return text.slice(bomOf(text).length);
}

function printDiff(output: Output, file: string, before: Buffer | undefined, after: Buffer | undefined): void {
  const [old, now] = [before, after].map((content) => (content ?? Buffer.alloc(0)).toString('latin1')) as [
    string,
    string,
  ];
  const range = { oldStart: 0, oldEnd: old.length, newStart: 0, newEnd: now.length };
  output.line(`--- ${before === undefined ? '/dev/null' : file}`);
  output.line(`+++ ${after === undefined ? '/dev/null' : file}`);
  for (const line of unifiedDiff(old, now, [range]).split('\n').slice(0, -1)) {
    const style = line.startsWith('+') ? 'green' : line.startsWith('-') ? 'red' : undefined;
    const shown = output.isTerminal ? safeLine(line) : line;
    output.line(style === undefined ? shown : output.style(style, shown));
  }
}
