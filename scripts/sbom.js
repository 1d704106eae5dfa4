// Prints a bill of materials of what users install, as CycloneDX. `npm sbom --omit dev` would leave out every package that a
// development dependency uses too, so npm is given the lockfile without the packages that only development needs.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const read = (file) => JSON.parse(readFileSync(new URL(`../${file}`, import.meta.url), 'utf8'));
const { devDependencies: _, ...manifest } = read('package.json');
const lock = read('package-lock.json');
delete lock.packages[''].devDependencies;
lock.packages = Object.fromEntries(Object.entries(lock.packages).filter(([, { dev }]) => !dev));

const folder = mkdtempSync(path.join(os.tmpdir(), 'ringfence-sbom-'));
try {
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify(manifest));
  writeFileSync(path.join(folder, 'package-lock.json'), JSON.stringify(lock));
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'];
  process.stdout.write(execFileSync('npm', args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] }));
} finally {
  rmSync(folder, { recursive: true });
}
