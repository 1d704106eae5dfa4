import { spawn, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { BackendName } from '../../src/fence/index.ts';
import { cannotDropPrivileges } from '../support/child.ts';
import { cannotMountDisk, mountLoop, mountTmpfs } from '../support/faulty-disk.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';

const BACKENDS: readonly BackendName[] = ['openat2', 'procfd'];
const root = 'r';
const LARGE = 'n'.repeat(900_000);

type Call = readonly [tool: string, args: Record<string, unknown>];
const ends = (from: string, to: string) => ({ source_root: root, source_path: from, dest_root: root, dest_path: to });

/** Calls that read `d/f` and the folder above it. */
const READS: readonly Call[] = [
  ['read_file', { root, path: 'd/f' }],
  ['read_file', { root, path: 'd/f', offset_lines: 1, limit_lines: 1 }],
  ['hash_file', { root, path: 'd/f', algorithm: 'sha256' }],
  ['stat_file', { root, path: 'd/f' }],
  ['permissions_file', { root, path: 'd/f' }],
  ['list_folder', { root, path: 'd' }],
  ['list_folder', { root, path: '', depth: 3 }],
  ['read_files', { root, paths: ['d/f', 'd/g'] }],
  ['grep', { root, pattern: 'old' }],
  ['glob', { root, pattern: '**' }],
];

/** Calls that write, none of which may leave a trace if it fails. */
const WRITES: readonly Call[] = [
  ['write_file', { root, path: 'd/f', content: LARGE }],
  ['write_file', { root, path: 'd/f', content: LARGE, mode: 'append' }],
  ['write_file', { root, path: 'd/new', content: LARGE, mode: 'create_only' }],
  ['write_file', { root, path: 'made/new', content: LARGE }],
  ['edit_file', { root, path: 'd/f', old_text: 'old', new_text: LARGE }],
  ['patch_file', { root, path: 'd/f', patch: `@@ -1 +1 @@\n-old\n+${LARGE}\n` }],
  ['copy', ends('d/g', 'd/copied')],
  ['copy', ends('d', 'tree')],
];

const REMOVALS: readonly Call[] = [
  ['create_folder', { root, path: 'made/folder' }],
  ['move', ends('d/f', 'd/moved')],
  ['remove_file', { root, path: 'd/f' }],
  ['remove_folder', { root, path: 'd' }],
];

/** Fills a folder with the files of the calls. */
function fill(folder: string): void {
  fs.mkdirSync(path.join(folder, 'd'), { recursive: true });
  fs.writeFileSync(path.join(folder, 'd/f'), 'old\n');
  fs.writeFileSync(path.join(folder, 'd/g'), 'g'.repeat(900_000));
}

/** Every path below a folder with the hash of its content. */
function snapshot(folder: string): string[] {
  const names = fs.readdirSync(folder, { recursive: true, withFileTypes: true });
  return names
    .filter(({ name }) => name !== 'lost+found')
    .map((entry) => {
      const host = path.join(entry.parentPath, entry.name);
      const hash = entry.isFile() ? createHash('md5').update(fs.readFileSync(host)).digest('hex') : entry.isDirectory();
      return `${path.relative(folder, host)} ${hash}`;
    })
    .sort();
}

interface Served {
  readonly server: TestServer;
  /** Makes calls, and resolves with the texts of those that failed. */
  failures(calls: readonly Call[]): Promise<string[]>;
}

/** Starts a server on stdio, which needs no descriptor per request, whose answers are all checked for what they must not hold. */
async function serve(
  folder: string,
  fence: BackendName,
  { unprivileged = false } = {},
): Promise<Served & AsyncDisposable> {
  const server = await startServer({
    transport: 'stdio',
    roots: [{ name: root, path: folder }],
    env: { RINGFENCE_FENCE: fence },
    unprivileged,
  });
  return {
    server,
    async failures(calls) {
      const texts: string[] = [];
      for (const [tool, args] of calls) {
        const { isError, text } = await server.call(tool, args);
        expect(`${tool}: ${text.slice(0, 500)}`).not.toMatch(/internal error|EIO|EMFILE|ENOENT|undefined|\[object/i);
        expect(text).not.toContain(folder);
        if (isError) texts.push(`${tool}: ${text}`);
      }
      return texts;
    },
    [Symbol.asyncDispose]: async () => {
      const log = server.stderr();
      await server[Symbol.asyncDispose]();
      expect(log).not.toContain('internal error');
    },
  };
}

const noMount = cannotMountDisk(() => mountTmpfs());
const noLoop = noMount ?? cannotMountDisk(() => mountLoop());
const because = (problem: string | undefined): string => (problem === undefined ? '' : ` (left out: ${problem})`);

describe('a disk', () => {
  const fence = 'openat2';
  test.skipIf(noMount)(`a full disk (ENOSPC) fails writes, leaves all as it was${because(noMount)}`, async () => {
    using disk = mountTmpfs('size=1m');
    fill(disk.folder);
    fs.writeFileSync(path.join(disk.folder, 'filler'), randomBytes(60_000));
    const before = snapshot(disk.folder);
    await using served = await serve(disk.folder, fence);
    const failed = await served.failures(WRITES);
    expect(failed).toHaveLength(WRITES.length);
    for (const text of failed) expect(text).toContain('no space left on device');
    expect(snapshot(disk.folder)).toEqual(before);
    expect(await served.failures(READS)).toEqual([]);
    expect(await served.failures(REMOVALS)).toEqual(['remove_file: file not found: d/f (root: r)']);
  });

  test.skipIf(noMount)(`a read-only disk (EROFS) fails changes, and is read${because(noMount)}`, async () => {
    using disk = mountTmpfs('size=8m');
    fill(disk.folder);
    const before = snapshot(disk.folder);
    await using served = await serve(disk.folder, fence);
    spawnSync('mount', ['-o', 'remount,ro', disk.folder]);
    const failed = await served.failures([...WRITES, ...REMOVALS]);
    expect(failed).toHaveLength(WRITES.length + REMOVALS.length);
    for (const text of failed) expect(text).toContain('read-only file system');
    expect(await served.failures(READS)).toEqual([]);
    spawnSync('mount', ['-o', 'remount,rw', disk.folder]);
    expect(snapshot(disk.folder)).toEqual(before);
    expect(await served.failures(WRITES.slice(0, 4))).toEqual([]);
  });

  test.skipIf(cannotDropPrivileges)(`files of somebody else (EACCES)${because(cannotDropPrivileges)}`, async () => {
    const folder = tempDir();
    fs.chmodSync(folder, 0o755);
    fill(folder);
    const before = snapshot(folder);
    await using served = await serve(folder, fence, { unprivileged: true });
    const failed = await served.failures([...WRITES, ...REMOVALS]);
    expect(failed).toHaveLength(WRITES.length + REMOVALS.length);
    for (const text of failed) expect(text).toContain('permission denied');
    expect(await served.failures(READS)).toEqual([]);
    fs.chmodSync(path.join(folder, 'd'), 0o700);
    expect((await served.failures(READS.slice(0, 6))).filter((text) => !text.includes('permission denied'))).toEqual(
      [],
    );
    fs.chmodSync(path.join(folder, 'd'), 0o755);
    expect(snapshot(folder)).toEqual(before);
    fs.rmSync(folder, { recursive: true });
  });

  test.skipIf(noLoop)(`blocks that cannot be read (EIO) fail the call that needs them${because(noLoop)}`, async () => {
    using disk = mountLoop();
    fs.mkdirSync(path.join(disk.folder, 'd'));
    fs.writeFileSync(path.join(disk.folder, 'd/ok'), 'whole\n');
    fs.writeFileSync(path.join(disk.folder, 'd/damaged'), 'line of text\n'.repeat(600_000));
    disk.remount();
    await using served = await serve(disk.folder, fence);
    expect(await served.failures([['hash_file', { root, path: 'd/ok', algorithm: 'md5' }]])).toEqual([]);
    disk.truncate(4 * 1024 * 1024);
    const needing: Call[] = [
      ['hash_file', { root, path: 'd/damaged', algorithm: 'sha256' }],
      ['read_file', { root, path: 'd/damaged', offset_bytes: 7_700_000, limit_bytes: 1000 }],
      ['read_file', { root, path: 'd/damaged', offset_lines: -5 }],
      ['copy', ends('d/damaged', 'd/copied')],
      ['edit_file', { root, path: 'd/damaged', old_text: 'line', new_text: 'x', replace_all: true }],
    ];
    const failed = await served.failures(needing);
    expect(failed).toHaveLength(needing.length);
    for (const text of failed) expect(text).toMatch(/i\/o error|input\/output|could not|cannot|failed/i);
    expect(
      await served.failures([
        ['read_file', { root, path: 'd/ok' }],
        ['list_folder', { root, path: 'd' }],
      ]),
    ).toEqual([]);
    // What cannot be read is left out of a search, which finds the rest.
    const found = await served.server.call('grep', { root, pattern: 'whole' });
    expect(found.text).toContain('d/ok');
    expect(fs.readdirSync(path.join(disk.folder, 'd')).sort()).toEqual(['damaged', 'ok']);
  });

  test.skipIf(noLoop)(`blocks that cannot be written (EIO) fail a durable write${because(noLoop)}`, async () => {
    using small = mountTmpfs('size=4m');
    using disk = mountLoop(small.folder);
    fs.writeFileSync(path.join(disk.folder, 'f'), 'old\n');
    spawnSync('sync', ['-f', disk.folder]);
    await using served = await serve(disk.folder, fence);
    const content = randomBytes(6_000_000).toString('base64');
    const failed = await served.failures([
      ['write_file', { root, path: 'f', content }],
      ['write_file', { root, path: 'g', content, mode: 'create_only' }],
    ]);
    expect(failed).toHaveLength(2);
    expect([fs.readFileSync(path.join(disk.folder, 'f'), 'utf8'), fs.existsSync(path.join(disk.folder, 'g'))]).toEqual([
      'old\n',
      false,
    ]);
    expect(await served.failures([['read_file', { root, path: 'f' }]])).toEqual([]);
  });
});

describe.each(BACKENDS)('on %s', (fence) => {
  test('without descriptors (EMFILE) calls fail, and work again once there are some', async () => {
    const folder = tempDir();
    fill(folder);
    const before = snapshot(folder);
    await using served = await serve(folder, fence);
    expect(await served.failures(READS)).toEqual([]);
    const { pid } = served.server;
    const limit = (descriptors: number): void => {
      const { status } = spawnSync('prlimit', ['--pid', String(pid), `--nofile=${descriptors}:`]);
      expect(status).toBe(0);
    };
    const open = fs.readdirSync(`/proc/${pid}/fd`).length;
    // From none to a few: every step of a call is the first to lack one.
    for (const spare of [0, 1, 2, 3]) {
      limit(Math.max(open + spare, 1));
      await served.failures([...READS, ...WRITES]);
    }
    limit(1024);
    const after = snapshot(folder);
    fill(folder);
    expect(await served.failures(READS)).toEqual([]);
    for (const entry of before) if (!entry.startsWith('d/f ')) expect(after).toContain(entry);
    expect(after.filter((entry) => entry.includes('ringfence-tmp'))).toEqual([]);
    expect((await served.server.call('list_folder', { root, path: '' })).text).not.toContain('ringfence-tmp');
    fs.rmSync(folder, { recursive: true });
  });

  test('a root that is removed, or moved away, while in use', async () => {
    const base = tempDir();
    const folder = path.join(base, 'root');
    fill(folder);
    await using served = await serve(folder, fence);
    fs.renameSync(folder, path.join(base, 'elsewhere'));
    fill(folder);
    // The root is the folder that was opened, wherever it is, not what has its name now.
    const before = snapshot(folder);
    const done = (await served.failures([...READS, ...WRITES, ...REMOVALS])).filter(
      (text) => !text.includes('not found'),
    );
    expect(done.filter((text) => !/old_text|patch failed/.test(text))).toEqual([]);
    expect(snapshot(folder)).toEqual(before);
    fs.rmSync(path.join(base, 'elsewhere'), { recursive: true });
    const failed = await served.failures([...WRITES.slice(0, 4), ...READS.slice(0, 6)]);
    expect(failed).toHaveLength(10);
    for (const text of failed) expect(text).toContain('not found');
    expect(snapshot(folder)).toEqual(before);
    fs.rmSync(base, { recursive: true });
  });

  test.skipIf(noMount)(`a root that is unmounted while in use${because(noMount)}`, async () => {
    using disk = mountTmpfs('size=8m');
    fill(disk.folder);
    await using served = await serve(disk.folder, fence);
    expect(spawnSync('umount', ['-l', disk.folder]).status).toBe(0);
    // What was opened stays in use: nothing may go to the folder below the mount instead.
    await served.failures([...READS, ...WRITES, ...REMOVALS]);
    expect(fs.readdirSync(disk.folder)).toEqual([]);
  });

  test('folders that come and go during calls', { timeout: 60_000 }, async () => {
    const folder = tempDir();
    fill(folder);
    await using served = await serve(folder, fence);
    // Everything that the calls reach is taken away and put back, without a pause.
    const script = `for i in $(seq 2000); do mv -T d gone; rm -rf made tree; mv -T gone d || rm -rf d; done`;
    const churn = spawn('sh', ['-c', script], { cwd: folder, stdio: 'ignore', detached: true });
    const ended = once(churn, 'close');
    for (let round = 0; round < 5; round += 1) await served.failures([...READS, ...WRITES]);
    // With all that it has started, which would otherwise go on moving folders.
    if (churn.exitCode === null) process.kill(-(churn.pid ?? 0));
    await ended;
    expect(await served.failures([['list_folder', { root, path: '' }]])).toEqual([]);
    fs.rmSync(folder, { recursive: true, maxRetries: 10 });
  });
});
