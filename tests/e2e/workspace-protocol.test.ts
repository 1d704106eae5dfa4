import { expect, test } from 'vitest';
import { READING_CAPABILITIES } from '../../src/tools/capabilities.ts';
import { CONNECTIONS } from '../support/connections.ts';
import { inWorkspace } from '../support/workspace.ts';

const READING: readonly string[] = READING_CAPABILITIES;
const WRITING = [
  'write_file',
  'remove_file',
  'patch_file',
  'edit_file',
  'create_folder',
  'remove_folder',
  'copy',
  'move',
];

inWorkspace({ connections: CONNECTIONS }, (w) => {
  const listTools = async () => (await w.server.client.listTools()).tools;

  test('the server says who it is', () => {
    expect(w.server.client.getServerVersion()).toMatchObject({ name: 'mcp-filesystem' });
    expect(w.server.client.getInstructions()).toContain('list_roots');
  });

  test('NFR-025 FR-002: the tools are those that an allowlist can name, and list_roots', async () => {
    const names = (await listTools()).map(({ name }) => name).sort();
    expect(names).toEqual(['list_roots', ...READING, ...WRITING].sort());
    const { roots } = await w.ok('list_roots');
    expect(['list_roots', ...roots[0].allowed_tools].sort()).toEqual(names);
  });

  test('FR-003 NFR-012: hints say which tools only read, and none asks for confirmation', async () => {
    for (const { name, annotations } of await listTools()) {
      expect(annotations?.destructiveHint, name).toBe(false);
      expect(annotations?.readOnlyHint, name).toBe(name === 'list_roots' || READING.includes(name));
    }
  });

  test('NFR-012 NFR-013: every tool and result is described, in snake_case, and all of it is short', async () => {
    const tools = await listTools();
    expect(Buffer.byteLength(JSON.stringify({ tools }))).toBeLessThan(18_000);
    for (const { name, description, inputSchema, outputSchema } of tools) {
      expect(description?.length, name).toBeGreaterThan(40);
      expect(inputSchema.type).toBe('object');
      expect(outputSchema?.type).toBe('object');
      const fields = [...Object.keys(inputSchema.properties ?? {}), ...Object.keys(outputSchema?.properties ?? {})];
      for (const field of fields) expect(field).toMatch(/^[a-z]+(_[a-z]+)*$/);
      if (name !== 'list_roots') expect(inputSchema.required?.[0], name).toMatch(/root$/);
    }
  });

  test('an unknown tool is an error of the protocol', async () => {
    await expect(w.server.call('nosuch', {})).rejects.toMatchObject({ code: -32602 });
    await expect(w.server.call('', {})).rejects.toMatchObject({ code: -32602 });
    await expect(w.server.call('constructor', {})).rejects.toMatchObject({ code: -32602 });
    expect((await w.ok('list_roots')).roots).toHaveLength(1);
  });

  test('FR-003: list_roots takes no arguments, and none at all', async () => {
    const bare = await w.server.client.callTool({ name: 'list_roots' });
    expect(bare.isError ?? false).toBe(false);
    expect((await w.call('list_roots', { root: 'workspace' })).text).toContain('unknown parameter: root');
  });

  test('a large answer arrives, one that is too large is refused in words', async () => {
    const content = 'x'.repeat(1_000_000);
    w.file('big.txt', content);
    expect((await w.ok('read_file', { path: 'big.txt' })).content === content).toBe(true);
    w.file('nul.bin', Buffer.alloc(1_048_576));
    const zeros = await w.call('read_file', { root: 'workspace', path: 'nul.bin' });
    if (zeros.isError) expect(zeros.text).toContain('use offset/limit parameters');
    else expect(zeros.structured.size).toBe(1_048_576);
    expect((await w.ok('list_roots')).roots).toHaveLength(1);
  });
});
