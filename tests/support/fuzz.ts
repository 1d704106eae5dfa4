import fs from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ConfigError } from '../../src/config/config-error.ts';
import { loadConfig } from '../../src/config/file/load-config.ts';
import { recordFigure } from './figures.ts';
import { spawnRingfence } from './ringfence-process.ts';
import { startServer } from './start-server.ts';
import { tempDir } from './temp-dir.ts';

const root = 'r';
const text = fc.string({ unit: 'binary', maxLength: 60 });
const odd = fc.constantFrom(
  '..',
  '/',
  '\0',
  '%2e%2e',
  '\u202e',
  '~',
  '.',
  'a'.repeat(300),
  '\ud800',
  'f.txt',
  'd',
  '\n',
  '**',
  '{',
  '[',
  '+(',
);
const path_ = fc.array(fc.oneof(odd, text), { maxLength: 6 }).map((names) => names.join('/'));
const pattern = fc
  .array(fc.oneof(odd, text, fc.constantFrom('(a+)+$', '.{990}', '|', '{*a,*b}', '?', '[!', '\\p{L}', '(?i)')), {
    maxLength: 6,
  })
  .map((parts) => parts.join(''));
const diff = fc
  .array(fc.tuple(fc.constantFrom('@@ -1 +1 @@', '@@', '-', '+', ' ', '---', '+++ b/f', '\\ No newline'), text), {
    maxLength: 8,
  })
  .map((lines) => lines.map((line) => line.join('')).join('\n'));
const base64 = fc.oneof(fc.base64String({ maxLength: 60 }), text);

/** Arguments of calls, by what they are about. */
const CALLS: Readonly<Record<string, fc.Arbitrary<[tool: string, args: Record<string, unknown>]>>> = {
  paths: fc.tuple(
    fc.constantFrom('read_file', 'list_folder', 'stat_file', 'create_folder', 'remove_file'),
    path_.map((at) => ({ root, path: at })),
  ),
  patterns: pattern.map((value) => ['grep', { root, pattern: value, timeout_seconds: 2 }]),
  globs: pattern.map((value) => ['glob', { root, pattern: value, timeout_seconds: 2 }]),
  diffs: diff.map((patch) => ['patch_file', { root, path: 'f.txt', patch, dry_run: true }]),
  base64: base64.map((content) => ['write_file', { root, path: 'b', content, encoding: 'base64' }]),
  arguments: fc.tuple(
    fc.constantFrom('read_file', 'write_file', 'edit_file', 'copy', 'grep', 'list_roots', 'read_files', 'no_such_tool'),
    fc.dictionary(
      fc.oneof(fc.constantFrom('root', 'path', 'edits', 'paths', 'offset_lines', '__proto__'), text),
      fc.jsonValue({ maxDepth: 3 }),
      { maxKeys: 5 },
    ),
  ),
};

/** Defines the tests that send generated input to real servers: none may end them, or be answered with an internal error. */
export function testFuzz(casesEach: number): void {
  const parameters = { numRuns: casesEach };
  const timeout = 30_000 + casesEach * 100;
  const record = (what: string): void => recordFigure(`fuzz of ${what}`, casesEach, 'cases');

  describe('calls with generated', () => {
    test.each(Object.entries(CALLS))(
      '%s are answered, and nothing outside is shown',
      { timeout },
      async (what, calls) => {
        const base = tempDir();
        const folder = path.join(base, 'root');
        fs.mkdirSync(path.join(folder, 'd'), { recursive: true });
        fs.writeFileSync(path.join(folder, 'f.txt'), 'one\ntwo\n');
        fs.writeFileSync(path.join(base, 'outside'), 'OUTSIDE-SECRET');
        await using server = await startServer({
          roots: [{ name: root, path: folder }],
          transport: 'stdio',
          config: { durable_writes: false },
        });
        await fc.assert(
          fc.asyncProperty(calls, async ([tool, args]) => {
            const answer = await server.client.callTool({ name: tool, arguments: args }).catch((error: Error) => error);
            const shown = JSON.stringify(answer instanceof Error ? answer.message : answer);
            expect(shown).not.toMatch(/internal error|OUTSIDE-SECRET/i);
            expect(shown).not.toContain(base);
          }),
          parameters,
        );
        expect(fs.readdirSync(base).sort()).toEqual(['outside', 'root']);
        expect(server.stderr()).not.toContain('internal error');
        record(what);
        await fs.promises.rm(base, { recursive: true });
      },
    );
  });

  test('generated frames do not end a server on stdio', { timeout }, async () => {
    const folder = tempDir();
    const child = spawnRingfence(['stdio', folder]);
    let output = '';
    child.stdout.on('data', (chunk) => {
      output = (output + chunk).slice(-10_000);
    });
    let log = '';
    child.stderr.on('data', (chunk) => {
      log += chunk;
    });
    const id = fc.oneof(fc.integer(), text, fc.constant(null), fc.boolean(), fc.double());
    const frame = fc.oneof(
      fc
        .record(
          {
            jsonrpc: fc.constantFrom('2.0', '1.0', 2),
            id,
            method: fc.oneof(
              fc.constantFrom('ping', 'initialize', 'tools/call', 'tools/list', 'notifications/cancelled'),
              text,
            ),
            params: fc.jsonValue({ maxDepth: 3 }),
          },
          { requiredKeys: [] },
        )
        .map((message) => JSON.stringify(message)),
      fc.json(),
      text,
    );
    await fc.assert(
      fc.asyncProperty(frame, async (line) => {
        if (!child.stdin.write(`${line}\n`)) await new Promise((resolve) => child.stdin.once('drain', resolve));
        expect(child.exitCode).toBe(null);
      }),
      parameters,
    );
    child.stdin.end();
    await new Promise((resolve) => child.once('close', resolve));
    expect([child.exitCode, log.includes('internal error')]).toEqual([0, false]);
    expect(output.length).toBeGreaterThan(0);
    record('JSON-RPC frames');
    fs.rmSync(folder, { recursive: true });
  });

  test('generated headers get an answer that is not a server error', { timeout }, async () => {
    const folder = tempDir();
    await using server = await startServer({ roots: [{ name: root, path: folder }] });
    const value = fc.oneof(
      fc.string({ unit: fc.constantFrom(...'abcXYZ019-_=;,:/*?. "'), maxLength: 40 }),
      fc.constantFrom('2026-07-28', '2025-11-25', 'application/json', '*/*', 'tools/list', '1-0'),
    );
    const name = fc.constantFrom(
      'accept',
      'content-type',
      'mcp-session-id',
      'mcp-protocol-version',
      'mcp-method',
      'mcp-name',
      'last-event-id',
      'authorization',
      'origin',
      'content-encoding',
    );
    const method = fc.constantFrom('GET', 'POST', 'DELETE', 'PUT');
    await fc.assert(
      fc.asyncProperty(method, fc.dictionary(name, value, { maxKeys: 5 }), async (verb, headers) => {
        const body = verb === 'POST' ? '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' : null;
        const response = await fetch(server.url, { method: verb, headers, body });
        await response.body?.cancel();
        expect(response.status).toBeLessThan(500);
      }),
      parameters,
    );
    record('HTTP headers');
    fs.rmSync(folder, { recursive: true });
  });

  test('generated YAML is refused as such, or read', { timeout }, async () => {
    const yaml = fc
      .array(
        fc.oneof(
          text,
          fc.constantFrom(
            'roots:',
            '  - name: a',
            '    path: /x',
            '&a',
            '*a',
            '<<: *a',
            'port: 1',
            '? ',
            '- - -',
            '!!js',
            '"',
          ),
        ),
        { maxLength: 10 },
      )
      .map((lines) => lines.join('\n'));
    const file = path.join(tempDir(), 'ringfence.yaml');
    await fc.assert(
      fc.asyncProperty(yaml, async (source) => {
        fs.writeFileSync(file, source);
        try {
          await loadConfig(file);
        } catch (error) {
          expect(error).toBeInstanceOf(ConfigError);
        }
      }),
      parameters,
    );
    fs.rmSync(path.dirname(file), { recursive: true });
    record('YAML');
  });
}
