// Fills the tables of tools and commands in the docs from the code. With --check, only says whether they are current.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const top = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const load = (file) => import(pathToFileURL(path.join(top, 'dist', file)).href);
const { schemaMarkdown } = await load('tools/schema-markdown.js');

const MARKED = /(<!-- (tools|table):(\w+) -->\n)[\s\S]*?(<!-- \/\2 -->)/g;
const renderers = {
  tools: (tools) => tools.map(schemaMarkdown).join('\n'),
  table: (tools) =>
    [
      '| tool | what it does |',
      '| --- | --- |',
      ...tools.map((t) => `| \`${t.name}\` | ${t.description.replaceAll('\n', ' ')} |`),
      '',
    ].join('\n'),
};

const COMMANDS = /(<!-- commands -->\n)[\s\S]*?(<!-- \/commands -->)/;

/** The reference of the commands about what was changed, from their definitions. */
async function commandsMarkdown() {
  const { Command } = await import('commander');
  const { addHistoryCommands } = await load('cli/history/commands.js');
  const program = new Command('ringfence');
  addHistoryCommands(program);
  return program.commands
    .map((command) => {
      const named = [...command.registeredArguments, ...command.options];
      const cell = (text) => text.replaceAll('|', '\\|');
      const rows = named.map((each) => `| \`${cell(each.flags ?? each.name())}\` | ${cell(each.description)} |`);
      const usage = command.registeredArguments.map((each) =>
        each.required ? `<${each.name()}>` : `[${each.name()}]`,
      );
      const heading = `### ringfence ${command.name()}`;
      const line = ['ringfence', command.name(), ...usage, '[options]'].join(' ');
      return [heading, '', `\`${line}\``, '', command.description(), '', '| | |', '| --- | --- |', ...rows, ''].join(
        '\n',
      );
    })
    .join('\n');
}

/** A dialect by its name; `history` stands for what a history adds to workspace. */
async function dialectOf(name) {
  if (name !== 'history') return (await load(`dialects/${name}/index.js`))[name];
  const { workspaceWithHistory } = await load('dialects/workspace/with-history.js');
  const { workspace } = await load('dialects/workspace/index.js');
  return { tools: workspaceWithHistory.tools.slice(workspace.tools.length) };
}

const pages = [
  'README.md',
  'CLAUDE.md',
  '.agent_docs/mcp-filesystem.md',
  ...readdirSync(path.join(top, 'docs')).map((name) => `docs/${name}`),
];
const stale = [];
for (const page of pages.filter((name) => name.endsWith('.md'))) {
  const file = path.join(top, page);
  const before = readFileSync(file, 'utf8');
  const names = new Set([...before.matchAll(MARKED)].map((match) => match[3]));
  const dialects = Object.fromEntries(await Promise.all([...names].map(async (name) => [name, await dialectOf(name)])));
  const commands = COMMANDS.test(before) ? await commandsMarkdown() : '';
  const after = before
    .replace(MARKED, (_, start, kind, name, end) => `${start}\n${renderers[kind](dialects[name].tools)}\n${end}`)
    .replace(COMMANDS, (_, start, end) => `${start}\n${commands}\n${end}`);
  if (after === before) continue;
  stale.push(page);
  if (!process.argv.includes('--check')) writeFileSync(file, after);
}
if (process.argv.includes('--check') && stale.length > 0) {
  process.stderr.write(`out of date, run npm run docs: ${stale.join(', ')}\n`);
  process.exit(1);
}
