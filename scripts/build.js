// Compiles src/ to dist/ and removes what an earlier build left there, so that dist/ is exactly src/, and writes down what a
// server of each dialect says about itself, so that a start need not work it out.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

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
chmodSync(path.join(dist, 'bin.js'), 0o755);

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
