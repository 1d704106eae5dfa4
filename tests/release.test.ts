import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { v0_3 } from '@anthropic-ai/mcpb';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { serverJsonProblems } from '../scripts/release/server-json.js';
import { configSchema } from '../src/config/file/schema.ts';

const TOP = fileURLToPath(new URL('..', import.meta.url));
const text = (file: string) => fs.readFileSync(path.join(TOP, file), 'utf8');
const json = (file: string) => JSON.parse(text(file));

const manifest = json('package.json');
const { version } = manifest;

describe('the JSON Schema of the config', () => {
  const agrees = new Ajv({ strict: false }).compile(json('config/ringfence.schema.json'));
  const roots = [{ name: 'a', path: '.', allowed_tools: ['*'] }];

  test.each(['config/mcp-filesystem.yaml', 'config/docker.yaml'])('accepts %s, which names it', (file) => {
    expect(agrees(parse(text(file)))).toBe(true);
    const [, named = ''] = /^# yaml-language-server: \$schema=(\S+)$/m.exec(text(file)) ?? [];
    expect(path.join('config', named)).toBe('config/ringfence.schema.json');
  });

  test.each<[string, unknown, boolean]>([
    ['only roots', { roots }, true],
    ['all sections', { roots, auth: { tokens: [{ name: 't', token_env: 'T', roots: ['a'] }] }, limits: {} }, true],
    ['dialects', { roots, dialects: { workspace: null, memory: { root: 'a' } } }, true],
    ['history as a word', { roots: [{ ...roots[0], history: true }] }, true],
    ['no roots', {}, false],
    ['an empty list of roots', { roots: [] }, false],
    ['a typo', { roots, prot: 1 }, false],
    ['a typo in a root', { roots: [{ ...roots[0], readonly: true }] }, false],
    ['a word for a number', { roots, port: 'x' }, false],
    ['a number out of range', { roots, port: 65_536 }, false],
    ['a fraction', { roots, port: 1.5 }, false],
    ['an unknown choice', { roots, log_level: 'loud' }, false],
    ['a timeout of 0', { roots, request_timeout: 0 }, false],
    ['no tokens', { roots, auth: { tokens: [] } }, false],
    ['little memory', { roots, limits: { memory: 1 } }, false],
  ])('and the server agree on %s', (_, config, good) => {
    expect([agrees(config), configSchema.safeParse(config).success]).toEqual([good, good]);
  });

  test('describes every key', () => {
    const undescribed: string[] = [];
    const visit = (schema: Record<string, unknown>, at: string) => {
      for (const [key, value] of Object.entries((schema.properties ?? {}) as Record<string, Record<string, unknown>>)) {
        if (typeof value.description !== 'string') undescribed.push(`${at}${key}`);
        visit((value.items ?? value) as Record<string, unknown>, `${at}${key}.`);
      }
    };
    visit(json('config/ringfence.schema.json'), '');
    expect(undescribed).toEqual([]);
  });
});

test('every file that names the version has that of package.json', () => {
  const server = json('server.json');
  const found = {
    server: server.version,
    package: server.packages[0].version,
    bundle: json('mcpb/manifest.json').version,
    plugin: json('plugin/.claude-plugin/plugin.json').version,
    marketplace: json('.claude-plugin/marketplace.json').plugins[0].version,
    command: json('plugin/.mcp.json').mcpServers.ringfence.args[1].split('@')[1],
    changelog: /^## \[(\d[^\]]*)\] - \d{4}-\d\d-\d\d$/m.exec(text('CHANGELOG.md'))?.[1],
  };
  expect(found).toEqual(Object.fromEntries(Object.keys(found).map((key) => [key, version])));
});

describe('server.json', () => {
  const server = json('server.json');
  const [npm] = server.packages;

  test('keeps to the rules of the registry, as does the label of the image', () => {
    expect(serverJsonProblems(server, manifest)).toEqual([]);
    expect(text('Dockerfile')).toContain(`LABEL io.modelcontextprotocol.server.name="${manifest.mcpName}"`);
  });

  test.each<[string, object, string]>([
    ['an older schema', { $schema: 'https://example.org/schemas/2025-10-17/server.schema.json' }, '$schema'],
    ['a name without a namespace', { name: 'ringfence' }, 'name'],
    ['the name of another package', { name: 'io.github.other/ringfence' }, 'name: is not mcpName'],
    ['a long description', { description: 'x'.repeat(101) }, 'description'],
    ['a range of versions', { version: '^0.1.0' }, 'version'],
    ['another version', { version: '9.9.9' }, 'version: is not that of the package'],
    ['an unknown key', { homepage: 'x' }, 'homepage'],
    ['another transport', { packages: [{ ...npm, transport: { type: 'pipe' } }] }, 'packages.0.transport.type'],
    [
      'an argument without value',
      { packages: [{ ...npm, packageArguments: [{ type: 'positional' }] }] },
      'has no value',
    ],
  ])('would be refused with %s', (_, change, problem) => {
    expect(serverJsonProblems({ ...server, ...change }, manifest).join('\n')).toContain(problem);
  });
});

test('the plugin is in a folder of its own, with what starts the server', () => {
  const [listed] = json('.claude-plugin/marketplace.json').plugins;
  const plugin = json(path.join(listed.source, '.claude-plugin/plugin.json'));
  expect([listed.name, listed.description]).toEqual([plugin.name, plugin.description]);
  expect(fs.readdirSync(path.join(TOP, listed.source)).sort()).toEqual(['.claude-plugin', '.mcp.json']);
  const { command, args } = json(path.join(listed.source, '.mcp.json')).mcpServers.ringfence;
  expect([command, args[0], args[2]]).toEqual(['npx', '-y', 'stdio']);
});

test('the manifest of the bundle is valid, and takes folders from the person', () => {
  const manifest = json('mcpb/manifest.json');
  expect(v0_3.McpbManifestSchema.safeParse(manifest).error).toBeUndefined();
  expect(manifest.user_config.folders).toMatchObject({ type: 'directory', multiple: true, required: true });
});
