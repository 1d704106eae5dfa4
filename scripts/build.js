// Compiles src/ to dist/ and removes what an earlier build left there. Then puts the program together with its packages into
// few files, dist/program/, which load in half the time of hundreds, and writes down what a server of each dialect says about
// itself, so that a start need not work it out. The library, dist/index.js, is left in its modules.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

const top = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const dist = path.join(top, 'dist');
const tsc = path.join(path.dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');

const { status } = spawnSync(process.execPath, [tsc, '-p', path.join(top, 'tsconfig.build.json')], {
  stdio: 'inherit',
});
if (status !== 0) process.exit(status ?? 1);

for (const file of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
  const source = path.join(top, 'src', file.replace(/(\.d)?\.[jt]s$/, '.ts'));
  if (/\.[jt]s$/.test(file) && !existsSync(source)) rmSync(path.join(dist, file));
}
const load = (file) => import(pathToFileURL(path.join(dist, file)).href);
const { introduce } = await load('server/introduce.js');
const introductions = path.join(dist, 'introductions');
rmSync(introductions, { recursive: true, force: true });
mkdirSync(introductions);
for (const name of readdirSync(path.join(dist, 'dialects'))) {
  if (!existsSync(path.join(dist, 'dialects', name, 'index.js'))) continue;
  const { [name]: dialect } = await load(`dialects/${name}/index.js`);
  writeFileSync(path.join(introductions, `${name}.json`), JSON.stringify(introduce(dialect)));
}

// What is run by itself. Other files are found from one folder deep, in the modules as in the bundle.
const entries = ['bin', 'ops/search/worker', 'ops/rewrite/worker'];
const bundle = await rolldown({
  input: Object.fromEntries(entries.map((name) => [name, path.join(dist, `${name}.js`)])),
  platform: 'node',
  // It is loaded by require, since it has files of its own.
  external: ['koffi'],
});
const { output } = await bundle.write({
  dir: dist,
  entryFileNames: '[name].js',
  chunkFileNames: 'program/[name]-[hash].js',
});
chmodSync(path.join(dist, 'bin.js'), 0o755);
writeFileSync(path.join(dist, 'program', 'LICENSES'), licenses(output));

/** The terms of all packages that the program is put together from. */
function licenses(chunks) {
  const folders = chunks.flatMap(({ moduleIds = [] }) =>
    moduleIds.map((id) => /^.*\/node_modules\/(@[^/]+\/)?[^/]+/.exec(id)?.[0]),
  );
  return [...new Set(folders)]
    .filter((folder) => folder !== undefined)
    .sort()
    .map((folder) => {
      const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
      const terms = file === undefined ? '' : readFileSync(path.join(folder, file), 'utf8');
      const { name, version, license } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
      return `${name} ${version} (${license})\n\n${terms}`;
    })
    .join('\n----\n\n');
}
