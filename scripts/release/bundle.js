import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';

/**
 * Makes the bundle for Claude Desktop: the server with its production dependencies and the manifest, packed by the official tool,
 * which also checks the manifest. Needs a build, and node_modules as the lockfile says. Returns what the tool says.
 */
export function makeBundle(top, output) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'ringfence-bundle-'));
  try {
    for (const name of ['package.json', 'LICENSE', 'README.md', 'dist'])
      cpSync(path.join(top, name), path.join(folder, name), { recursive: true });
    cpSync(path.join(top, 'mcpb/manifest.json'), path.join(folder, 'manifest.json'));
    for (const name of productionPackages(top)) {
      mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
      cpSync(path.join(top, name), path.join(folder, name), { recursive: true, filter: outsideNested(top, name) });
    }
    mcpb(['validate', path.join(folder, 'manifest.json')]);
    mcpb(['pack', folder, output]);
    return mcpb(['info', output]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The folders of the packages that users install, as far as they are for this system. */
function productionPackages(top) {
  const { packages } = JSON.parse(readFileSync(path.join(top, 'package-lock.json'), 'utf8'));
  const names = Object.keys(packages).filter((name) => name !== '' && packages[name].dev !== true);
  const missing = names.filter((name) => !packages[name].optional && !existsSync(path.join(top, name)));
  if (missing.length > 0) throw new Error(`not installed: ${missing.join(', ')}`);
  return names.filter((name) => existsSync(path.join(top, name)));
}

/** Leaves out packages inside of a package: the lockfile names those that are needed. */
function outsideNested(top, name) {
  const nested = path.join(top, name, 'node_modules');
  return (source) => source !== nested;
}

function mcpb(args) {
  const require = createRequire(import.meta.url);
  const cli = path.join(path.dirname(require.resolve('@anthropic-ai/mcpb')), 'cli/cli.js');
  return execFileSync(process.execPath, [cli, ...args], { encoding: 'utf8', stdio: 'pipe' });
}
