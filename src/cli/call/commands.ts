import type { Command } from 'commander';
import { CAPABILITIES } from '../../tools/capabilities.ts';
import type { CallFlags, StartLocalServer } from './call.ts';

/** Adds the command that calls a tool. It loads its modules, and the server with `load`, only when it runs. */
export function addCallCommands(program: Command, load: () => Promise<StartLocalServer>): void {
  const tool = program
    .createArgument('[TOOL]', 'the tool; without one, the tools are listed')
    .choices(['list_roots', ...CAPABILITIES])
    // Other dialects and servers have others.
    .argParser((name: string) => name);
  program
    .command('call')
    .summary('call a tool, as an agent would')
    .description(
      'Call a tool of a server, or of one that runs for this call only, and show the result. The same rules hold as for an agent.',
    )
    .addArgument(tool)
    .argument(
      '[KEY=VALUE...]',
      'its arguments: key=value, key=@FILE, key=- for stdin, key:=JSON; a key given twice is a list',
    )
    .option('--root <dir>', 'a folder to work on; give it again for more', (dir: string, all: string[] = []) => [
      ...all,
      dir,
    ])
    .option('--config <file>', 'the config to work with (default: ringfence.yaml, or the current folder)')
    .option('--url <address>', 'a server to call instead, with the token in RINGFENCE_TOKEN')
    .option('--dialect <name>', 'workspace, memory, classic or guide (default: workspace)')
    .option('--list', 'list the tools, or the arguments of TOOL')
    .option('--json', 'print the structured result as JSON')
    .addHelpText(
      'after',
      `
Examples:
  ringfence call list_folder path=src depth=2
  ringfence call --root ~/project grep pattern='TODO|FIXME' exclude=dist exclude=vendor
  ringfence call write_file path=notes.md content=@draft.md --config ringfence.yaml
  RINGFENCE_TOKEN=… ringfence call --url http://127.0.0.1:8091/mcp read_file path=a.txt --json

A root that is the only one need not be named.

Exit codes: 0 done; 1 the tool failed; 2 a mistake in the command or its arguments; 3 no connection to the server, or it refuses the token; 130 cancelled with Ctrl+C.`,
    )
    .action(async (name: string | undefined, words: string[], flags: CallFlags) => {
      const { call } = await import('./call.ts');
      await call({ tool: name, words, flags }, await load());
    });
}
