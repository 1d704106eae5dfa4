import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { parse as parseYaml } from 'yaml';
import { CLIENTS } from '../../../src/cli/install/clients.ts';
import { guide } from '../../../src/dialects/guide/index.ts';
import { workspace } from '../../../src/dialects/workspace/index.ts';
import { argumentChecker } from '../../../src/tools/check-arguments.ts';
import { ChildTransport } from '../child-transport.ts';
import { noTerminal } from '../pty.ts';
import { ProcessLog } from '../ringfence-process.ts';
import { newClient } from '../tool-client.ts';
import { entriesIn, withClient } from './client-entries.ts';
import { serverOf } from './command-lines.ts';
import { isConfig, loadSample } from './config-samples.ts';
import { type Block, type Directive, TOP } from './doc-pages.ts';
import type { DocWorld } from './doc-world.ts';
import { answersIn, exchangesOf, firstDifference } from './transcript.ts';

/** Tries what a block says. Rejects if it does not work. Returns the reason why it cannot be tried here, if there is one. */
type Try = (block: Block, world: DocWorld) => unknown;

/** How a block of each language is tried. A block of another language cannot be. */
export const TRIES: Readonly<Record<string, Try>> = {
  sh: runShell,
  console: runConsole,
  yaml: loadYaml,
  json: tryJson,
  toml: ({ text }, world) => useEntries(text, 'toml', world),
  ini: verifyUnit,
  // Pictures, and output that no command of the page has printed. Never a command or a config.
  text: refuseCommands,
  diff: refuseCommands,
  '': refuseCommands,
};

/** Runs a block of shell; lines that start a server run beside the rest of the page. */
async function runShell({ text, note }: Block, world: DocWorld): Promise<void> {
  execFileSync('bash', ['-n'], { input: text });
  if (note?.startsWith('syntax only')) return;
  if (note === 'examples of --help') return runExamples(text, world);
  let script = '';
  const runScript = async (): Promise<void> => {
    const { code, stdout, stderr } = await world.run(script);
    if (code !== 0) throw new Error(`exit code ${code} of\n${script}\n${stdout}${stderr}`);
    script = '';
  };
  for (const line of text.replaceAll('\\\n', ' ').split('\n')) {
    const server = serverOf(line);
    if (server === undefined) {
      script += `${line}\n`;
      continue;
    }
    await runScript();
    if (server === 'serve') await startServing(line, world);
    else await listTools(line, world);
  }
  await runScript();
}

/** Runs examples one by one. What waits for more is stopped; what needs another program is not run. */
async function runExamples(text: string, world: DocWorld): Promise<void> {
  for (const line of text.trim().split('\n')) {
    if (line.startsWith('docker ')) continue;
    const server = serverOf(line);
    if (server === 'serve') await startServing(line, world);
    else if (server !== undefined) await listTools(line, world);
    else {
      const { code, stderr } = await world.run(line.includes(' --follow') ? `timeout 3 ${line} || [ $? = 124 ]` : line);
      if (code !== 0) throw new Error(`exit code ${code} of ${line}\n${stderr}`);
    }
  }
}

/** Starts an HTTP server in the place of an earlier one, and waits until it listens. */
async function startServing(line: string, world: DocWorld): Promise<void> {
  await world.stop();
  const child = world.start(line);
  child.stdin.end();
  child.stdout.resume();
  const log = new ProcessLog(child);
  for (let left = 150; left > 0; left -= 1) {
    const health = await fetch(`${world.base}/health`).catch(() => undefined);
    if (health?.ok) return;
    if (child.exitCode !== null) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`did not serve: ${line}\n${log.text}`);
}

/** Starts a server on stdio, and asks it for its tools. */
async function listTools(line: string, world: DocWorld): Promise<void> {
  const child = world.start(line);
  const log = new ProcessLog(child);
  const client = newClient('legacy');
  try {
    await client.connect(new ChildTransport(child));
    const { tools } = await client.listTools();
    if (tools.length === 0) throw new Error('it has no tools');
    await client.close();
  } catch (error) {
    throw new Error(`did not serve: ${line}\n${log.text}`, { cause: error });
  } finally {
    await world.stop();
  }
}

/** Runs the commands of a console block and compares what they print. */
async function runConsole({ text, note }: Block, world: DocWorld): Promise<string | undefined> {
  for (const exchange of exchangesOf(text)) {
    if (answersIn(exchange) !== undefined && noTerminal !== undefined) return noTerminal;
    if (note?.startsWith('syntax only')) {
      execFileSync('bash', ['-n'], { input: exchange.command });
      continue;
    }
    const { stdout, stderr } = await world.run(`{ ${exchange.command}\n} 2>&1`, answersIn(exchange));
    const difference = firstDifference(world, exchange.shown, stdout + stderr);
    if (difference !== undefined) throw new Error(`${exchange.command}: the page shows\n${difference}`);
  }
}

async function loadYaml({ text, note }: Block, world: DocWorld): Promise<void> {
  if (isConfig(text)) return loadSample(world, text, /^file (\S+)/.exec(note ?? '')?.[1]);
  parseYaml(text);
  if (!/^(services|scrape_configs):/m.test(text)) throw new Error('neither a config of the server nor known otherwise');
}

/** A config of a client is used, and the arguments of calls are checked. Answers and log lines name the test that makes them. */
async function tryJson({ text, note }: Block, world: DocWorld): Promise<void> {
  const tested = /^shown, (tests\/\S+)$/.exec(note ?? '')?.[1];
  const isLines = tested !== undefined || text.startsWith('{ "name"');
  if (!isLines) return useEntries(text, 'json', world);
  const values = text.startsWith('{\n') ? [text] : text.trim().split('\n');
  for (const value of values.map((json) => JSON.parse(json))) if (tested === undefined) checkCall(value);
  if (tested !== undefined && !fs.existsSync(path.join(TOP, tested))) throw new Error(`no such test: ${tested}`);
}

function checkCall({ name, arguments: args }: { name: string; arguments: object }): void {
  const tool = [...workspace.tools, ...guide.tools].find((each) => each.name === name);
  if (tool === undefined) throw new Error(`no such tool: ${name}`);
  const checked = argumentChecker(tool.input)(args);
  if ('problems' in checked) throw new Error(checked.problems.map(({ message }) => message).join('; '));
}

async function useEntries(text: string, language: string, world: DocWorld): Promise<void> {
  const entries = entriesIn(text, language);
  if (entries.length === 0) throw new Error('no config of a client; say where it is tested: <!-- test: shown, … -->');
  for (const entry of entries) {
    await withClient(world, entry, async (client) => {
      if ((await client.listTools()).tools.length === 0) throw new Error('it has no tools');
    });
  }
}

/** Lets systemd check a unit, with the programs of this machine. */
function verifyUnit({ text }: Block, world: DocWorld): string | undefined {
  if (spawnSync('systemd-analyze', ['--version']).error !== undefined) return 'systemd-analyze is not installed';
  const unit = world.at('ringfence.service');
  fs.writeFileSync(unit, text.replaceAll('/usr/bin/node', process.execPath));
  const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', unit], { encoding: 'utf8' });
  const about = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('ringfence.service'));
  if (about.length > 0) throw new Error(about.join('\n'));
}

function refuseCommands({ text }: Block): void {
  const command = /^(?:\$ )?(?:ringfence|npm|npx|docker|curl|claude|sudo) .*/m.exec(text)?.[0];
  if (command !== undefined) throw new Error(`a command belongs into a block of sh or console: ${command}`);
}

/** Does what a comment for the tests asks for: shell that prepares something, or calls that an agent makes. */
export async function runDirective({ name, argument, text }: Directive, world: DocWorld): Promise<void> {
  if (name === 'setup') return runShell({ kind: 'block', line: 0, language: 'sh', text, note: undefined }, world);
  const client = CLIENTS.find(({ id }) => id === argument);
  if (client === undefined) throw new Error(`no such client: ${argument}`);
  const file = client.configFile({ platform: process.platform, env: {}, home: world.home });
  const language = path.extname(file).slice(1);
  const [entry] = entriesIn(fs.readFileSync(file, 'utf8'), language);
  if (entry === undefined) throw new Error(`${file} has no server`);
  await withClient(
    world,
    entry,
    async (agent) => {
      for (const line of text.trim().split('\n')) {
        // A call after `!` has to fail.
        const [, refused, tool = '', args = '{}'] = /^(! )?(\w+) (.*)$/.exec(line) ?? [];
        const result = await agent.callTool({ name: tool, arguments: JSON.parse(args) });
        const isRight = (result.isError === true) === (refused !== undefined);
        if (!isRight) throw new Error(`${line}: ${JSON.stringify(result.content)}`);
      }
    },
    argument,
  );
}
