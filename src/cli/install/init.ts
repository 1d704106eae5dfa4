import os from 'node:os';
import path from 'node:path';
import { ConfigError } from '../../config/config-error.ts';
import { CONFIG_NAME } from '../../config/file/default-config-file.ts';
import { loadConfig } from '../../config/file/load-config.ts';
import { folderProblem } from '../../config/folder-problem.ts';
import { rootNameProblem } from '../../config/root-name.ts';
import { CommandError } from '../terminal/command-error.ts';
import { Output } from '../terminal/output.ts';
import { createFile, isFolderInUse, readClientFile } from './client-file.ts';
import { CLIENTS, type Machine, type McpClient } from './clients.ts';
import { thisMachine } from './install.ts';

/** Writes a config for a folder, and says how to connect the clients that are installed. Raises `CommandError`. */
export async function init(dir?: string): Promise<void> {
  const folder = path.resolve(dir ?? '.');
  if (dir === undefined && [os.homedir(), path.parse(folder).root].includes(folder))
    throw new CommandError('this would open everything here to agents; name the folder: ringfence init DIR');
  const problem = folderProblem(folder);
  if (problem !== undefined) throw new ConfigError(problem);
  const file = path.join(folder, CONFIG_NAME);
  createFile(file, configText(folder));
  await loadConfig(file);
  const output = new Output();
  output.line(`wrote ${file}: the root ${rootNameOf(folder)}, with all tools and a history to undo from`);
  const found = CLIENTS.filter((client) => isInstalled(client, thisMachine()));
  const command = process.env.npm_command === 'exec' ? 'npx ringfence' : 'ringfence';
  const quoted = /^[\w./\\:-]+$/.test(file) ? file : JSON.stringify(file);
  output.line();
  output.line(found.length > 0 ? 'Connect what is installed here:' : 'No client was found here. To connect one:');
  for (const { id } of found.length > 0 ? found : CLIENTS) output.line(`  ${command} install ${id} --config ${quoted}`);
  output.line('Or serve it over HTTP:');
  output.line(`  ${command} serve --config ${quoted}`);
  output.line('See what it allows, and whether it holds here:');
  output.line(`  ${command} check --config ${quoted}`);
  output.line(`  ${command} doctor --config ${quoted}`);
}

/** Reports whether there are signs of a client: its config, or something in the folder where that belongs. */
function isInstalled(client: McpClient, machine: Machine): boolean {
  const file = client.configFile(machine);
  const folder = path.dirname(file);
  return readClientFile(file).content !== undefined || (folder !== machine.home && isFolderInUse(folder));
}

/** Returns the name of a folder, without what a root's name cannot have. */
function rootNameOf(folder: string): string {
  const name = path
    .basename(folder)
    .replace(/[^\p{L}\p{N}\p{M} ._@+-]/gu, '-')
    .replace(/^[^\p{L}\p{N}_]+/u, '')
    .slice(0, 64)
    .trim();
  return rootNameProblem(name) === undefined ? name : 'root';
}

/** Returns the text of a config with one root, the folder that the config is in. */
function configText(folder: string): string {
  return `# What agents may reach, and what they may do there. Clients cannot change this file.
# All keys: docs/configuration.md of the package.

host: 127.0.0.1               # for ringfence serve; 0.0.0.0 lets other machines in: set auth.tokens first
port: 8091

roots:
  - name: ${JSON.stringify(rootNameOf(folder))}
    path: .                   # relative to this file
    allowed_tools: ["*"]      # or a list, for example [list_folder, read_file, grep, glob]
    deny: [".env", ".env.*", "*.pem"]   # these do not exist for any client; patterns as in .gitignore
    # read_only: true         # look, but change nothing
    # confirm: [remove_folder]   # a person has to agree first
    history: { keep: 7d, max_bytes: 1GB }   # what is replaced or removed is kept: ringfence history, diff, undo

  # One more folder:
  # - name: notes
  #   path: ~/notes
  #   allowed_tools: ["*"]
`;
}
