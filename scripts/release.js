// Makes and checks all parts of a release in release/: the npm package, the bundle for Claude Desktop, a bill of materials and
// checksums. Then publishes the package, unless --dry-run is given or something is wrong. Run npm test first.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeBundle } from './release/bundle.js';
import { packageProblems } from './release/package-contents.js';
import { serverJsonProblems } from './release/server-json.js';

const top = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const out = path.join(top, 'release');
const isDryRun = process.argv.includes('--dry-run');
const json = (file) => JSON.parse(readFileSync(path.join(top, file), 'utf8'));
const run = (program, args) => execFileSync(program, args, { cwd: top, encoding: 'utf8', stdio: 'pipe' });
const node = (...args) => run(process.execPath, args);
const manifest = json('package.json');
const { name, version } = manifest;
const file = (ending) => `${name}-${version}.${ending}`;
const none = (problems) => {
  if (problems.length > 0) throw new Error(problems.join('; '));
};

/** Each returns what it found, or throws what is wrong. */
const STEPS = {
  'clean tree': () => {
    const changed = run('git', ['status', '--porcelain']).trim();
    none(changed === '' ? [] : [`not committed: ${changed.split('\n').length} files`]);
    return run('git', ['rev-parse', '--short', 'HEAD']).trim();
  },
  version: () => {
    node('scripts/version.js', '--check');
    return version;
  },
  changelog: () => {
    const [, entry = ''] = readFileSync(path.join(top, 'CHANGELOG.md'), 'utf8').split(`\n## [${version}]`);
    const [date = ''] = /^ - \d{4}-\d\d-\d\d$/m.exec(entry) ?? [];
    const lines = entry.split(/\n## /)[0].match(/^- .+/gm) ?? [];
    none([
      ...(date === '' ? ['the entry has no date'] : []),
      ...(lines.length === 0 ? ['the entry says nothing'] : []),
    ]);
    return `${lines.length} entries`;
  },
  'server.json': () => {
    none(serverJsonProblems(json('server.json'), manifest));
    cpSync(path.join(top, 'server.json'), path.join(out, 'server.json'));
    return manifest.mcpName;
  },
  build: () => {
    node('scripts/build.js');
    return 'dist/';
  },
  'npm package': () => {
    // It is built already, whether or not npm is configured to run scripts.
    const [packed] = Object.values(
      JSON.parse(run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', out])),
    );
    none(packageProblems(packed));
    return `${packed.filename}, ${packed.files.length} files, ${kilobytes(packed.size)}, unpacked ${kilobytes(packed.unpackedSize)}`;
  },
  bundle: () => {
    makeBundle(top, path.join(out, file('mcpb')));
    return `${file('mcpb')}, ${kilobytes(statSync(path.join(out, file('mcpb'))).size)}`;
  },
  'bill of materials': () => {
    const bom = node('scripts/sbom.js');
    writeFileSync(path.join(out, file('cdx.json')), bom);
    return `${file('cdx.json')}, ${JSON.parse(bom).components.length} packages`;
  },
  checksums: () => {
    const files = readdirSync(out).sort();
    const sum = (each) =>
      createHash('sha256')
        .update(readFileSync(path.join(out, each)))
        .digest('hex');
    writeFileSync(path.join(out, 'SHA256SUMS'), files.map((each) => `${sum(each)}  ${each}\n`).join(''));
    return `SHA256SUMS, ${files.length} files`;
  },
};

rmSync(out, { recursive: true, force: true });
mkdirSync(out);
const rows = [];
for (const [step, work] of Object.entries(STEPS)) {
  try {
    rows.push([step, 'ok', work()]);
  } catch (error) {
    rows.push([step, 'FAILED', `${error.stderr || error.message}`.trim().split('\n').at(-1)]);
  }
}
const isGood = rows.every(([, state]) => state === 'ok');
const publishes = isGood && !isDryRun;
rows.push([
  'publish',
  publishes ? 'next' : 'not done',
  isDryRun ? 'dry run' : isGood ? `npm publish ${file('tgz')}` : 'something failed',
]);
const table = ['| step | | |', '| --- | --- | --- |', ...rows.map((row) => `| ${row.join(' | ')} |`), ''].join('\n');
writeFileSync(path.join(out, 'summary.md'), `# ${name} ${version}\n\n${table}`);
process.stdout.write(table);
if (!isGood) process.exit(1);
if (publishes) execFileSync('npm', ['publish', path.join(out, file('tgz'))], { stdio: 'inherit' });

function kilobytes(bytes) {
  return `${Math.ceil(bytes / 1000)} kB`;
}
