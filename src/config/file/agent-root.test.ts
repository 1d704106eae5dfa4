import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { AGENT_CAPABILITIES } from '../../tools/capabilities.ts';
import { ConfigError } from '../config-error.ts';
import { guideConfig } from '../folders/guide-config.ts';
import { loadConfig } from './load-config.ts';

const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'ringfence-agent-config-'));
afterAll(() => fs.rmSync(dir, { recursive: true }));
fs.mkdirSync(path.join(dir, 'a'));
const file = path.join(dir, 'ringfence.yaml');

const LOCAL = '{ name: a, path: a, allowed_tools: ["*"] }';

function load(yaml: string) {
  fs.writeFileSync(file, yaml);
  return loadConfig(file);
}

test('an agent root has defaults, and "*" means the five tools', async () => {
  const config = await load('roots: [{ name: laptop, agent: {}, allowed_tools: ["*"] }]');
  expect(config.roots).toEqual([
    {
      name: 'laptop',
      agent: { allowedPaths: undefined, cacheBytes: 67_108_864, timeout: 30 },
      allowed: AGENT_CAPABILITIES,
      origin: 'roots[0].agent.allowed_paths',
    },
  ]);
});

test('every key of an agent root and of the guide dialect is read', async () => {
  const config = await load(
    `roots: [${LOCAL}, { name: laptop, agent: { allowed_paths: [x/], cache_bytes: 7, timeout: 0.5 }, allowed_tools: [copy] }]
dialects: { guide: { project: a, allowed_paths: [y], cache_bytes: 8, timeout: 9 } }`,
  );
  expect(config.roots[1]).toMatchObject({
    agent: { allowedPaths: ['x/'], cacheBytes: 7, timeout: 0.5 },
    allowed: ['copy'],
  });
  expect(config.dialects).toEqual([
    {
      name: 'guide',
      root: undefined,
      project: {
        project: path.join(dir, 'a'),
        allowedPaths: ['y'],
        cacheBytes: 8,
        timeout: 9,
        origin: 'dialects.guide.allowed_paths',
      },
    },
  ]);
});

test('several roots may be of kind agent, each with its own keys', async () => {
  const config = await load(
    `roots: [{ name: x, agent: { allowed_paths: [a] }, allowed_tools: [] }, { name: y, agent: { timeout: 5 }, allowed_tools: ["*"] }]`,
  );
  expect(config.roots.map(({ name, agent, origin }) => [name, agent?.allowedPaths, agent?.timeout, origin])).toEqual([
    ['x', ['a'], 30, 'roots[0].agent.allowed_paths'],
    ['y', undefined, 5, 'roots[1].agent.allowed_paths'],
  ]);
});

describe('a config is refused', () => {
  const laptop = (more: string) => `roots: [${LOCAL}, { name: laptop, agent: {}, allowed_tools: [${more}] }]`;
  test.each([
    [
      laptop('read_file, grep'),
      /roots\[1\]\.allowed_tools\[1\]: grep cannot be allowed on root "laptop".*"\*", list_folder, read_file, stat_file, hash_file, copy$/,
    ],
    [laptop('read_fiel'), /unknown tool "read_fiel" \(did you mean read_file\?\); known are "\*", list_folder/],
    [
      `${laptop('copy')}\ndialects: { memory: { root: laptop } }`,
      /dialects\.memory\.root: "laptop" is a root of kind agent/,
    ],
    [`${laptop('copy')}\ndialects: { classic: { root: laptop } }`, /dialects\.classic\.root: "laptop"/],
    ['roots: [{ name: a, path: a, agent: {}, allowed_tools: [] }]', /roots\[0\] has both path and agent/],
    ['roots: [{ name: a, allowed_tools: [] }]', /roots\[0\]\.path is required; or give agent/],
    [
      'roots: [{ name: x, agent: { alowed_paths: [a] }, allowed_tools: [] }]',
      /unknown key: roots\[0\]\.agent\.alowed_paths \(did you mean roots\[0\]\.agent\.allowed_paths\?\)/,
    ],
    ['roots: [{ name: x, agent: { cache_bytes: 0 }, allowed_tools: [] }]', /roots\[0\]\.agent\.cache_bytes must be/],
    ['roots: [{ name: x, agent: { timeout: 0 }, allowed_tools: [] }]', /roots\[0\]\.agent\.timeout must be/],
    [`roots: [${LOCAL}]\ndialects: { guide: {} }`, /dialects\.guide\.project is required/],
    [
      `roots: [${LOCAL}]\ndialects: { guide: { project: nope } }`,
      /dialects\.guide\.project: the folder .*nope does not exist/,
    ],
  ])('%s', async (yaml, expected) => {
    const error = await load(yaml).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConfigError);
    expect((error as Error).message).toMatch(expected);
  });
});

test('ringfence guide takes the project and its allowed paths', () => {
  expect(guideConfig({ project: dir, allow: ['docs'], logLevel: 'trace' })).toMatchObject({
    logLevel: 'trace',
    roots: [],
    dialects: [{ name: 'guide', project: { project: dir, allowedPaths: ['docs'], timeout: 30 } }],
  });
  expect(guideConfig({}).dialects[0].project?.project).toBe(process.cwd());
  expect(() => guideConfig({ project: path.join(dir, 'nope') })).toThrow(/--project: the folder .*nope does not exist/);
  expect(() => guideConfig({ project: '' })).toThrow(/--project/);
  expect(() => guideConfig({ logLevel: 'loud' })).toThrow(/--log-level/);
});
