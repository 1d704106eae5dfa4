// Fills the tables of tools, commands and metrics in the docs from the code, and writes the schema and the reference of the config. With --check, only says whether they are current.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { errorReference } from './error-reference.js';

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

const COMMANDS = /(<!-- commands:(\w+) -->\n)[\s\S]*?(<!-- \/commands -->)/g;
/** The commands by what they are about. */
const COMMAND_GROUPS = {
  history: [['cli/history/commands.js', 'addHistoryCommands']],
  people: [
    ['cli/install/commands.js', 'addSetupCommands'],
    ['cli/check/commands.js', 'addCheckCommands'],
    ['cli/doctor/commands.js', 'addDoctorCommands'],
    ['cli/call/commands.js', 'addCallCommands'],
    ['cli/logs/commands.js', 'addLogsCommands'],
  ],
};

/** The reference of a group of commands, from their definitions. */
async function commandsMarkdown(group) {
  const { Command } = await import('commander');
  const program = new Command('ringfence');
  for (const [file, add] of COMMAND_GROUPS[group]) (await load(file))[add](program);
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
      const table = ['| | |', '| --- | --- |', ...rows, ''];
      const more = group === 'history' ? [] : afterHelp(command);
      return [heading, '', `\`${line}\``, '', command.description(), '', ...table, ...more].join('\n');
    })
    .join('\n');
}

/** The examples and exit codes at the end of the help of a command. */
function afterHelp(command) {
  let help = '';
  command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
  const [, examples = '', rest = ''] = /\nExamples?:\n((?: {2}.*\n)+)([\s\S]*)$/.exec(help) ?? [];
  const code = examples.replace(/^ {2}/gm, '').trimEnd();
  return [
    '<!-- test: examples of --help -->',
    '',
    '```sh',
    code,
    '```',
    '',
    ...(rest.trim() === '' ? [] : [rest.trim(), '']),
  ];
}

const METRICS = /(<!-- metrics -->\n)[\s\S]*?(<!-- \/metrics -->)/;

/** The reference of the metrics, from those of a server that has not started. */
async function metricsMarkdown() {
  const { Metrics } = await load('server/metrics/metrics.js');
  const { registry } = new Metrics();
  const rows = registry.getMetricsAsArray().map(({ name, help, labelNames, type }) => {
    const labels = labelNames.map((label) => `\`${label}\``).join(', ');
    return { name, row: `| \`${name}\` | ${type} | ${labels} | ${help} |` };
  });
  const table = (all) => [
    '| metric | type | labels | what it is |',
    '| --- | --- | --- | --- |',
    ...all.map(({ row }) => row),
  ];
  const isOwn = ({ name }) => name.startsWith('ringfence_');
  return [
    ...table(rows.filter(isOwn)),
    '',
    'Of the process, by [prom-client](https://github.com/siimon/prom-client):',
    '',
    ...table(rows.filter((row) => !isOwn(row))),
    '',
  ].join('\n');
}

const ERRORS = /(<!-- errors:(\w+) -->\n)[\s\S]*?(<!-- \/errors -->)/g;

const LINKS = /(<!-- links -->\n)[\s\S]*?(<!-- \/links -->)/;

/** Links that install the server in an editor. GitHub shows only those of the web, so the other one is text to copy. */
async function linksMarkdown() {
  const { entryFor } = await load('cli/install/clients.js');
  const { serverCommand } = await load('cli/install/server-command.js');
  const program = { node: '', program: '/_npx/', platform: 'linux' };
  // biome-ignore lint/suspicious/noTemplateCurlyInString: both editors replace it by the folder that is open
  const command = serverCommand(['stdio', '${workspaceFolder}'], program);
  const vscode = JSON.stringify({ name: 'ringfence', ...entryFor({ isTyped: true }, command) });
  const redirect = `https://insiders.vscode.dev/redirect?url=${encodeURIComponent(`vscode:mcp/install?${encodeURIComponent(vscode)}`)}`;
  const cursor = Buffer.from(JSON.stringify(entryFor({ isTyped: false }, command))).toString('base64');
  const deeplink = `cursor://anysphere.cursor-deeplink/mcp/install?name=ringfence&config=${encodeURIComponent(cursor)}`;
  return `One click for the folder that is open: [install in VS Code](${redirect}), and for Cursor open this address:\n\n\`\`\`text\n${deeplink}\n\`\`\`\n`;
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

/** Writes a file that is generated whole, or with --check notes that it is not current. */
function generate(name, text) {
  const file = path.join(top, name);
  if (existsSync(file) && readFileSync(file, 'utf8') === text) return;
  stale.push(name);
  if (!process.argv.includes('--check')) writeFileSync(file, text);
}

/** The rows of a table of keys, with those of nested objects and lists below theirs. */
function keyRows({ properties = {}, required = [] }, prefix = '') {
  return Object.entries(properties).flatMap(([key, schema]) => {
    const nested = schema.items ?? schema;
    const initial = schema.default === undefined ? '' : `\`${JSON.stringify(schema.default)}\``;
    const kind = schema.enum?.map((value) => `\`${value}\``).join(', ') ?? schema.type ?? '';
    const cells = [`\`${prefix}${key}\``, kind, required.includes(key) ? 'required' : initial, schema.description];
    return [`| ${cells.join(' | ')} |`, ...keyRows(nested, `${prefix}${key}${schema.items ? '[]' : ''}.`)];
  });
}

const { configSchema } = await load('config/file/schema.js');
const { toJSONSchema } = await import('zod');
const { $schema, ...configKeys } = toJSONSchema(configSchema, { io: 'input', target: 'draft-7' });
const schemaOfConfig = { $schema, title: 'Config of ringfence serve and stdio', ...configKeys };
generate('config/ringfence.schema.json', `${JSON.stringify(schemaOfConfig, null, 2)}\n`);
generate(
  'docs/configuration.md',
  `# Configuration

Every key of the file for \`--config\`. An unknown key, a wrong type or a folder that is not there stops the start with one line that names
file, key and fix. A whole sample with comments, and more on each part: [Deployment](deployment.md).

Editors with the YAML language server complete and check the file if its first line names the
[JSON Schema](../config/ringfence.schema.json), by its path or address: \`# yaml-language-server: $schema=./ringfence.schema.json\`

| key | type | default | what it means |
| --- | --- | --- | --- |
${keyRows(configKeys).join('\n')}

This page is generated from \`src/config/file/schema.ts\` by \`npm run docs\`.
`,
);

for (const page of pages.filter((name) => name.endsWith('.md'))) {
  const file = path.join(top, page);
  const before = readFileSync(file, 'utf8');
  const names = new Set([...before.matchAll(MARKED)].map((match) => match[3]));
  const dialects = Object.fromEntries(await Promise.all([...names].map(async (name) => [name, await dialectOf(name)])));
  const groups = [...before.matchAll(COMMANDS)].map((match) => match[2]);
  const commands = Object.fromEntries(
    await Promise.all(groups.map(async (name) => [name, await commandsMarkdown(name)])),
  );
  const links = LINKS.test(before) ? await linksMarkdown() : '';
  const errors = ERRORS.test(before) ? await errorReference(path.join(top, 'dist')) : {};
  const metrics = METRICS.test(before) ? await metricsMarkdown() : '';
  const after = before
    .replace(MARKED, (_, start, kind, name, end) => `${start}\n${renderers[kind](dialects[name].tools)}\n${end}`)
    .replace(COMMANDS, (_, start, group, end) => `${start}\n${commands[group]}\n${end}`)
    .replace(ERRORS, (_, start, name, end) => `${start}\n${errors[name]}\n\n${end}`)
    .replace(LINKS, (_, start, end) => `${start}\n${links}\n${end}`)
    .replace(METRICS, (_, start, end) => `${start}\n${metrics}\n${end}`);
  if (after === before) continue;
  stale.push(page);
  if (!process.argv.includes('--check')) writeFileSync(file, after);
}
if (process.argv.includes('--check') && stale.length > 0) {
  process.stderr.write(`out of date, run npm run docs: ${stale.join(', ')}\n`);
  process.exit(1);
}
