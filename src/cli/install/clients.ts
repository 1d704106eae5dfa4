import path from 'node:path';

/** Where a program runs, as far as the places of config files depend on it. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The home folder of the user. */
  readonly home: string;
}

/** How a client starts a server. */
export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
}

/** A program whose config can name MCP servers. */
export interface McpClient {
  /** The name on the command line. */
  readonly id: string;
  readonly title: string;
  readonly format: 'json' | 'toml';
  /** The key of the table of servers. */
  readonly key: string;
  /** Whether an entry says that it is for stdio. */
  readonly isTyped: boolean;
  /** Returns the file that holds the servers of the user, in all projects. */
  readonly configFile: (machine: Machine) => string;
}

/** The clients that `ringfence install` knows. */
export const CLIENTS: readonly McpClient[] = [
  {
    id: 'claude-code',
    title: 'Claude Code',
    format: 'json',
    key: 'mcpServers',
    isTyped: true,
    configFile: (machine) => join(machine, machine.env.CLAUDE_CONFIG_DIR || machine.home, '.claude.json'),
  },
  {
    id: 'claude-desktop',
    title: 'Claude Desktop',
    format: 'json',
    key: 'mcpServers',
    isTyped: false,
    configFile: (machine) => join(machine, applicationData(machine), 'Claude', 'claude_desktop_config.json'),
  },
  {
    id: 'vscode',
    title: 'VS Code',
    format: 'json',
    key: 'servers',
    isTyped: true,
    configFile: (machine) => join(machine, applicationData(machine), 'Code', 'User', 'mcp.json'),
  },
  {
    id: 'cursor',
    title: 'Cursor',
    format: 'json',
    key: 'mcpServers',
    isTyped: false,
    configFile: (machine) => join(machine, machine.home, '.cursor', 'mcp.json'),
  },
  {
    id: 'codex',
    title: 'Codex',
    format: 'toml',
    key: 'mcp_servers',
    isTyped: false,
    configFile: (machine) =>
      join(machine, machine.env.CODEX_HOME || join(machine, machine.home, '.codex'), 'config.toml'),
  },
  {
    id: 'gemini',
    title: 'Gemini CLI',
    format: 'json',
    key: 'mcpServers',
    isTyped: false,
    configFile: (machine) => join(machine, machine.env.GEMINI_CLI_HOME || machine.home, '.gemini', 'settings.json'),
  },
];

/** Returns what stands in the config of a client for a server. */
export function entryFor(
  client: Pick<McpClient, 'isTyped'>,
  { command, args }: ServerCommand,
): Record<string, unknown> {
  return { ...(client.isTyped && { type: 'stdio' }), command, args: [...args] };
}

/** Returns the folder in which desktop programs keep their settings. */
function applicationData(machine: Machine): string {
  const { platform, env, home } = machine;
  if (platform === 'win32') return env.APPDATA || join(machine, home, 'AppData', 'Roaming');
  if (platform === 'darwin') return join(machine, home, 'Library', 'Application Support');
  return env.XDG_CONFIG_HOME || join(machine, home, '.config');
}

function join({ platform }: Machine, ...names: string[]): string {
  return (platform === 'win32' ? path.win32 : path.posix).join(...names);
}
