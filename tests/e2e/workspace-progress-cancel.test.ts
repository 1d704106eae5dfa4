import { expect, test } from 'vitest';
import { CONNECTIONS } from '../support/connections.ts';
import { inWorkspace } from '../support/workspace.ts';

const GB = 1024 ** 3;

inWorkspace({ connections: CONNECTIONS, roots: { workspace: ['*'], dest: ['*'] } }, (w, { era }) => {
  async function watch(tool: string, args: Record<string, unknown>): Promise<number[]> {
    const seen: number[] = [];
    await w.ok(tool, args, { onprogress: ({ progress }) => seen.push(progress) });
    return seen;
  }

  function expectUpwards(seen: readonly number[]): void {
    expect(seen.length).toBeGreaterThan(0);
    for (const [index, progress] of seen.entries()) expect(progress).toBeGreaterThan(seen[index - 1] ?? -1);
  }

  function lay(count: number): void {
    for (let index = 0; index < count; index += 1) w.file(`tree/${index % 20}/${index}.txt`, `needle ${index}\n`);
  }

  test('progress of hash_file', async () => {
    w.sparse('big.bin', GB / 16);
    expectUpwards(await watch('hash_file', { path: 'big.bin', algorithm: 'sha256' }));
  });

  async function cancelled(tool: string, args: Record<string, unknown>): Promise<void> {
    const controller = new AbortController();
    const call = w.server.call(tool, args, { signal: controller.signal });
    setTimeout(() => controller.abort(), 150);
    await expect(call).rejects.toThrow();
    const line = await w.server.waitForLog((each) => each.tool === tool && each.code === 'cancelled');
    expect(line.outcome).toBe('error');
  }

  test('cancelling hash_file stops it', async () => {
    w.sparse('huge.bin', 200 * GB);
    await cancelled('hash_file', { root: 'workspace', path: 'huge.bin', algorithm: 'sha256' });
  });

  test('while a long call runs, others are answered', async () => {
    w.sparse('huge.bin', 200 * GB);
    w.file('small.txt', 'small');
    const controller = new AbortController();
    const args = { root: 'workspace', path: 'huge.bin', algorithm: 'md5' };
    const long = w.server.call('hash_file', args, { signal: controller.signal });
    for (let round = 0; round < 5; round += 1) {
      expect((await w.ok('read_file', { path: 'small.txt' })).content).toBe('small');
    }
    controller.abort();
    await expect(long).rejects.toThrow();
  });

  // How a call is watched and stopped is the same for every tool, so the second era need not repeat the rest.
  if (era === 'modern') return;

  test('progress of copy, grep, glob and remove_folder', async () => {
    lay(200);
    expectUpwards(await watch('copy', { source_path: 'tree', dest_path: 'copied' }));
    expectUpwards(await watch('grep', { pattern: 'needle', max_results: 10_000 }));
    expectUpwards(await watch('glob', { pattern: '**', max_results: 10_000 }));
    expectUpwards(await watch('remove_folder', { path: 'copied' }));
    expect(w.exists('copied')).toBe(false);
  });

  test('cancelling a read by lines stops it', async () => {
    w.sparse('huge.txt', 200 * GB);
    await cancelled('read_file', { root: 'workspace', path: 'huge.txt', offset_lines: 5 });
  });

  test('cancelling copy stops it and leaves nothing behind', async () => {
    lay(20);
    w.sparse('tree/zzz.bin', 200 * GB);
    const args = { source_root: 'workspace', source_path: 'tree', dest_root: 'dest', dest_path: 'copied' };
    await cancelled('copy', args);
    expect(w.tree('dest')).toEqual([]);
  });

  test('cancelling patch_file stops it and leaves the file as it was', async () => {
    // Lines that repeat, and a hunk that fits nowhere: all that may be spent on searching is spent.
    const content = 'a\nb\n'.repeat(1_000_000);
    w.file('code.txt', content);
    const patch = `@@ -1 +1 @@\n${' a\n b\n'.repeat(1_000)} a\n-a\n`;
    await cancelled('patch_file', { root: 'workspace', path: 'code.txt', patch });
    expect(w.text('code.txt') === content).toBe(true);
    expect(w.tree()).toEqual(['code.txt']);
  });

  test('cancelling grep stops it', async () => {
    const line = 'neeeed nothing here, nor in any other line of this file, that would match\n';
    const { linkSync } = await import('node:fs');
    const block = w.file('b/0000.txt', line.repeat(120_000));
    for (let index = 1; index < 2_000; index += 1) linkSync(block, w.host(`b/${String(index).padStart(4, '0')}.txt`));
    await cancelled('grep', { root: 'workspace', pattern: '(n|m)e+dl[a-f] \\d' });
    // The workers are free again.
    w.clear();
    w.file('a.txt', 'needle');
    expect((await w.ok('grep', { pattern: 'needle' })).total_matches).toBe(1);
  });
});

inWorkspace({ config: { request_timeout: 0.5 } }, (w) => {
  test('FR-018: a call that takes longer than request_timeout ends with an error that says so', async () => {
    w.sparse('huge.bin', 200 * GB);
    expect(await w.fails('hash_file', { path: 'huge.bin', algorithm: 'sha256' })).toBe(
      'timed out after 0.5 seconds: huge.bin (root: workspace)',
    );
    expect((await w.ok('list_folder', { path: '' })).count).toBe(1);
  });
});
