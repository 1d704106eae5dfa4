import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { Finding } from '../../src/doctor/finding.ts';
import { cannotDropPrivileges } from '../support/child.ts';
import { cannotMountExfat, mountExfat } from '../support/exfat-disk.ts';
import { noTerminal, runOnTerminal } from '../support/pty.ts';
import { type ProcessOptions, runRingfence, writeConfig } from '../support/ringfence-process.ts';
import { tempDir } from '../support/temp-dir.ts';

const support = (file: string): string => fileURLToPath(new URL(`../support/${file}`, import.meta.url));
const onLinux = process.platform === 'linux' ? test : test.skip;

let dir: string;
const made: string[] = [];
beforeEach(() => {
  dir = tempDir('ringfence-doctor-root-');
  made.push(dir);
});
afterAll(() => {
  for (const each of made) fs.rmSync(each, { recursive: true, force: true });
});

interface Examined {
  readonly code: number | null;
  readonly healthy: boolean;
  readonly findings: readonly Finding[];
  /** What is missing or failed, by area and name. */
  readonly bad: Readonly<Record<string, Finding>>;
}

async function examine(args: readonly string[] = [dir], options: ProcessOptions = {}): Promise<Examined> {
  const { code, stdout, stderr } = await runRingfence(['doctor', ...args, '--json'], options);
  expect(stderr).toBe('');
  const { healthy, findings } = JSON.parse(stdout) as { healthy: boolean; findings: Finding[] };
  const bad = findings.filter(({ state }) => state === 'missing' || state === 'failed');
  return { code, healthy, findings, bad: Object.fromEntries(bad.map((each) => [`${each.area}: ${each.name}`, each])) };
}

const proofs = (findings: readonly Finding[]) => findings.filter(({ area }) => area === 'fence' || area === 'guards');

describe('ringfence doctor (skipped where this is not Linux)', () => {
  onLinux('proves every guard, and leaves nothing behind', async () => {
    const before = fs.readdirSync(os.tmpdir()).filter((name) => /^ringfence-doctor-(?!root)/.test(name));
    const { code, healthy, findings, bad } = await examine();
    // What this machine lacks is named. Guards hold on any.
    expect([code, healthy]).toEqual(Object.keys(bad).length === 0 ? [0, true] : [1, false]);
    expect(Object.values(bad).filter(({ state }) => state === 'failed')).toEqual([]);
    expect(proofs(findings).every(({ state }) => state === 'ok')).toBe(true);
    expect(proofs(findings).length).toBeGreaterThan(20);
    expect(fs.readdirSync(dir)).toEqual([]);
    expect(fs.readdirSync(os.tmpdir()).filter((name) => /^ringfence-doctor-(?!root)/.test(name))).toEqual(before);
  });

  onLinux.each(['procfd', 'portable'])('is honest about the %s fence, which holds too', async (fence) => {
    const { code, findings, bad } = await examine([dir], { env: { RINGFENCE_FENCE: fence } });
    expect(code).toBe(1);
    expect(bad['system: fence']).toMatchObject({
      detail: expect.stringContaining(fence),
      advice: 'unset RINGFENCE_FENCE',
    });
    expect(Object.keys(bad)).toContain(`root ${path.basename(dir)}: exchange`);
    expect(proofs(findings).every(({ state }) => state === 'ok')).toBe(true);
  });

  onLinux('says what to do where koffi is not installed', async () => {
    const { code, findings, bad } = await examine([dir], {
      env: { NODE_OPTIONS: `--require=${support('without-koffi.cjs')}` },
    });
    expect(code).toBe(1);
    expect(bad['system: koffi']?.advice).toContain('--include=optional');
    expect(bad['system: fence']?.detail).toContain('procfd');
    expect(bad['landlock: mode']?.detail).toContain('koffi');
    expect(proofs(findings).every(({ state }) => state === 'ok')).toBe(true);
  });

  onLinux('says so where Landlock is off, by the config or the environment', async () => {
    const config = writeConfig({
      roots: [{ name: 'a', path: dir, allowed_tools: ['*'] }],
      hardening: { landlock: 'off' },
    });
    expect((await examine(['--config', config])).bad['landlock: mode']?.advice).toContain('hardening.landlock');
    const { code, bad } = await examine([dir], { env: { RINGFENCE_LANDLOCK: 'off' } });
    expect([code, bad['landlock: mode']?.state]).toEqual([1, 'missing']);
  });

  onLinux('says so where the kernel has no Landlock', async () => {
    const { code, bad } = await examine([dir], { program: support('without-landlock.cjs') });
    expect([code, bad['landlock: mode']?.detail]).toEqual([1, expect.stringContaining('the kernel does not offer it')]);
  });

  onLinux('notices a Landlock that does not hold', async () => {
    const { code, bad } = await examine([dir], { env: { NODE_OPTIONS: `--require=${support('fake-landlock.cjs')}` } });
    expect(code).toBe(1);
    for (const name of [
      'read a file outside',
      'write to a file outside',
      'run a program',
      'write to a read-only root',
    ]) {
      expect(bad[`landlock: ${name}`]).toMatchObject({ state: 'failed', detail: 'is possible' });
    }
  });

  onLinux('notices a fence that does not hold', async () => {
    const { code, bad } = await examine([dir], {
      env: { NODE_OPTIONS: `--import=file://${support('broken-fence.js')}` },
    });
    expect(code).toBe(1);
    expect(
      Object.values(bad).filter(({ area, state }) => area === 'fence' && state === 'failed').length,
    ).toBeGreaterThan(0);
  });

  test.skipIf(cannotDropPrivileges !== undefined)(
    `names a root that this user cannot write to${cannotDropPrivileges === undefined ? '' : ` (skipped: ${cannotDropPrivileges})`}`,
    async () => {
      fs.chmodSync(dir, 0o755);
      const { code, bad } = await examine([dir], { unprivileged: true });
      expect([code, bad[`root ${path.basename(dir)}: writing`]?.advice]).toEqual([
        1,
        expect.stringContaining('read_only'),
      ]);
      const config = writeConfig({ roots: [{ name: 'a', path: dir, allowed_tools: ['*'], read_only: true }] });
      for (const each of [path.dirname(config), config]) fs.chmodSync(each, 0o755);
      expect(
        Object.keys((await examine(['--config', config], { unprivileged: true })).bad).filter((name) =>
          name.startsWith('root'),
        ),
      ).toEqual([]);
    },
  );

  test.skipIf(cannotMountExfat !== undefined)(
    `names what a file system lacks${cannotMountExfat === undefined ? '' : ` (skipped: ${cannotMountExfat})`}`,
    async () => {
      using disk = mountExfat();
      const { code, bad } = await examine([disk.folder]);
      expect([code, Object.keys(bad)]).toEqual([
        1,
        expect.arrayContaining(['root mount: hard links', 'root mount: symbolic links']),
      ]);
    },
  );

  onLinux('is for people, too', async () => {
    const { stdout } = await runRingfence(['doctor', dir], { env: { RINGFENCE_FENCE: 'procfd' } });
    expect(stdout).toMatch(/^system\n {2}ok +Node +v/);
    expect(stdout).toMatch(/missing +fence +procfd.*\n +→ unset RINGFENCE_FENCE\n/);
    expect(stdout).toMatch(/\d+ of \d+ need a look: fence, .*\n$/);
    expect(await runRingfence(['doctor', '/none'])).toMatchObject({ code: 2, stdout: '' });
  });

  test.skipIf(noTerminal !== undefined)(
    `is coloured on a terminal only${noTerminal === undefined ? '' : ` (skipped: ${noTerminal})`}`,
    async () => {
      expect((await runOnTerminal(['doctor', dir])).screen).toContain('\u001b[32mok');
      expect((await runOnTerminal(['doctor', dir], [], { NO_COLOR: '1' })).screen).not.toContain('\u001b[');
    },
  );
});
