// Compiles src/ to dist/ and removes what an earlier build left there, so that dist/ is exactly src/.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

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
