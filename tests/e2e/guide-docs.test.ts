import fs from 'node:fs';
import { expect, test } from 'vitest';
import * as ringfence from '../../src/index.ts';
import { withAgentRoot, withGuide } from '../support/agent-server.ts';
import { TWO_CONNECTIONS } from '../support/connections.ts';

const TOOLS = ['guide_cache_file', 'guide_list_directory', 'guide_read_file'];
const REPO = new URL('../../', import.meta.url);

/** The example calls in a description: what stands there as JSON. */
function examplesIn(description: string): object[] {
  return [...description.matchAll(/\{.*\}/g)].flatMap(([text]) => {
    try {
      return [JSON.parse(text)];
    } catch {
      return [];
    }
  });
}

withGuide({ connections: TWO_CONNECTIONS }, (g) => {
  test('filesystem-tools/Tool description generation: purpose, arguments, an example that works, and the security rules', async () => {
    const { tools } = await g.agent.client.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual(TOOLS);
    for (const { name, description = '', inputSchema, outputSchema } of tools) {
      expect([name, description]).toEqual([name, expect.stringMatching(/security|allowed|policy/i)]);
      expect(outputSchema).toMatchObject({ type: 'object', properties: { success: expect.anything() } });
      expect(Object.keys(inputSchema.properties ?? {})).toContain('path');
      const examples = examplesIn(description);
      expect([name, examples.length]).toEqual([name, expect.any(Number)]);
      expect(examples.length).toBeGreaterThan(0);
      for (const example of examples) await g.ok(name, example as never);
    }
  });
});

withAgentRoot({ connections: TWO_CONNECTIONS }, (s) => {
  test('filesystem-tools/Tool description generation: the same tools stand on a connection with an agent root', async () => {
    const { tools } = await s.agent.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining([...TOOLS, 'read_file', 'list_roots']));
  });
});

const guide = (ringfence as unknown as { guide: ringfence.Dialect }).guide;

test('filesystem-tools/Argument schema documentation: types, constraints, what is required and defaults, as a table', () => {
  const text = Object.fromEntries(guide.tools.map((tool) => [tool.name, ringfence.schemaMarkdown(tool)]));
  expect(Object.keys(text).sort()).toEqual(TOOLS);
  for (const markdown of Object.values(text)) {
    expect(markdown).toMatch(/^\|.*\|$/m);
    expect(markdown).toMatch(/`path`.*string/);
    expect(markdown).toMatch(/`\w+` \|.*\| optional \|/);
  }
  expect(text.guide_list_directory).toMatch(/`entries` \|.*\| required \|/);
  expect(text.guide_cache_file).toMatch(/`size` \| integer ≥ 0/);
  expect(text.guide_read_file).toMatch(/chunk/);
  expect(text.guide_read_file).toMatch(/binary.*false/);
});

test('filesystem-tools/Usage examples: the docs show success, errors, and how it goes together with the bridge', () => {
  const text = fs.readFileSync(new URL('docs/guide.md', REPO), 'utf8');
  for (const tool of TOOLS) expect(text).toContain(tool);
  expect(text).toMatch(/"success":\s*true/);
  expect(text).toMatch(/"success":\s*false/);
  expect(text).toMatch(/"error_type":\s*"security"/);
  expect(text).toMatch(/new FilesystemBridge\(/);
});
