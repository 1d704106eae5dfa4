import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { tempDir } from './support/temp-dir.ts';

const TOP = fileURLToPath(new URL('..', import.meta.url));
const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall', 'prepare'];

interface LockedPackage {
  readonly version: string;
  readonly dev?: boolean;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly hasInstallScript?: boolean;
}

const lock = JSON.parse(fs.readFileSync(path.join(TOP, 'package-lock.json'), 'utf8')) as {
  readonly packages: Readonly<Record<string, LockedPackage>>;
};
const locked = Object.entries(lock.packages).filter(([folder]) => folder !== '');
/** What users install. Packages for other platforms are locked and not there. */
const production = locked.filter(([, { dev }]) => dev !== true);

describe('the production tree', () => {
  test('has no package that runs anything when it is installed', () => {
    expect(production.length).toBeGreaterThan(20);
    expect(production.filter(([, { hasInstallScript }]) => hasInstallScript === true)).toEqual([]);
    const there = production.map(([folder]) => path.join(TOP, folder)).filter((folder) => fs.existsSync(folder));
    expect(there.length).toBeGreaterThan(20);
    expect(there.filter(runsOnInstall)).toEqual([]);
    const { scripts } = JSON.parse(fs.readFileSync(path.join(TOP, 'package.json'), 'utf8'));
    expect(INSTALL_SCRIPTS.filter((name) => name in scripts)).toEqual([]);
  });

  test.each([
    ['a script', { 'package.json': '{"scripts":{"postinstall":"true"}}' }],
    ['native code that npm would build by itself', { 'package.json': '{}', 'binding.gyp': '{}' }],
  ])('%s would be noticed', (_, files) => {
    const folder = tempDir();
    for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(folder, name), text);
    expect(runsOnInstall(folder)).toBe(true);
    fs.rmSync(folder, { recursive: true });
  });

  test('is what the bill of materials lists', () => {
    const json = execFileSync('npm', ['run', '--silent', 'sbom'], { cwd: TOP, encoding: 'utf8', stdio: 'pipe' });
    const { bomFormat, metadata, components } = JSON.parse(json);
    expect([bomFormat, metadata.component.purl]).toEqual(['CycloneDX', expect.stringMatching(/^pkg:npm\/ringfence@/)]);
    const listed = components.map(({ name, version }: Record<string, string>) => `${name}@${version}`);
    const nameOf = (folder: string) => folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length);
    const shipped = production.map(([folder, { version }]) => `${nameOf(folder)}@${version}`);
    expect(listed.sort()).toEqual([...new Set(shipped)].sort());
  });
});

test('the lockfile pins every package by its hash and names no registry', () => {
  expect(locked.filter(([, { integrity }]) => !integrity?.startsWith('sha512-')).map(([folder]) => folder)).toEqual([]);
  expect(locked.filter(([, { resolved }]) => resolved !== undefined).map(([folder]) => folder)).toEqual([]);
});

/** Reports whether npm runs anything when it installs the package of a folder. It builds what has a `binding.gyp`. */
function runsOnInstall(folder: string): boolean {
  const { scripts = {} } = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'));
  // Npm runs `prepare` for packages from a repository only, not for those of a registry.
  const run = INSTALL_SCRIPTS.filter((name) => name !== 'prepare' && name in scripts);
  return run.length > 0 || fs.existsSync(path.join(folder, 'binding.gyp'));
}
