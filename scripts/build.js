// Compiles src/ to dist/: TypeScript by tsc, the kernels in assembly/ folders to WebAssembly by AssemblyScript; bundles the page
// in console/ to dist/console/. Removes what an
// earlier build left there, and writes down what a server of each dialect says about itself, so that a start need not work it out,
// and which modules there are, so that a running server sees whether they are all in place.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

const top = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const dist = path.join(top, 'dist');

run('typescript/bin/tsc', ['-p', 'tsconfig.build.json']);

const sources = readdirSync(path.join(top, 'src'), { recursive: true, encoding: 'utf8' });
for (const file of sources) if (file.endsWith(path.join('assembly', 'index.ts'))) compileKernel(file);

for (const file of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
  const source = path.join(top, 'src', file.replace(/(\.d)?\.[jt]s$/, '.ts'));
  if (/\.[jt]s$/.test(file) && !existsSync(source)) rmSync(path.join(dist, file));
}
chmodSync(path.join(dist, 'bin.js'), 0o755);

const load = (file) => import(pathToFileURL(path.join(dist, file)).href);
const { describeServer } = await load('server/description/describe-server.js');
const descriptions = path.join(dist, 'descriptions');
rmSync(descriptions, { recursive: true, force: true });
mkdirSync(descriptions);
for (const name of readdirSync(path.join(dist, 'dialects'))) {
  if (!existsSync(path.join(dist, 'dialects', name, 'index.js'))) continue;
  const { [name]: dialect } = await load(`dialects/${name}/index.js`);
  writeDescription(name, dialect);
}
const { workspaceWithHistory } = await load('dialects/workspace/with-history.js');
writeDescription('workspace-with-history', workspaceWithHistory);

const modules = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.js'));
const sizes = modules.sort().map((file) => [file.split(path.sep).join('/'), statSync(path.join(dist, file)).size]);
writeFileSync(path.join(dist, 'modules.json'), JSON.stringify(Object.fromEntries(sizes)));

await buildConsole();

/** Bundles the console: one script and one style sheet. They are no modules of the server, so modules.json leaves them out. */
async function buildConsole() {
  const [from, to] = [path.join(top, 'console'), path.join(dist, 'console')];
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to);
  const bundle = await rolldown({
    input: path.join(from, 'main.tsx'),
    platform: 'browser',
    transform: { target: 'es2022' },
  });
  await bundle.write({ file: path.join(to, 'app.js'), format: 'esm', minify: true });
  await bundle.close();
  const sheets = readdirSync(path.join(from, 'styles')).sort();
  const css = [
    createRequire(import.meta.url).resolve('uplot/dist/uPlot.min.css'),
    ...sheets.map((name) => path.join(from, 'styles', name)),
  ].map((file) => readFileSync(file, 'utf8'));
  writeFileSync(path.join(to, 'app.css'), css.join('\n'));
  for (const name of ['index.html', 'icon.svg']) copyFileSync(path.join(from, name), path.join(to, name));
}

function writeDescription(name, dialect) {
  writeFileSync(path.join(descriptions, `${name}.json`), JSON.stringify(describeServer(dialect)));
}

/** Compiles `x/assembly/index.ts` to `dist/x/kernel.wasm`, which works in the memory that its host brings. */
function compileKernel(file) {
  const wasm = path.join('dist', path.dirname(path.dirname(file)), 'kernel.wasm');
  if (isCurrent(path.join(top, wasm), [path.join(top, 'src', file), fileURLToPath(import.meta.url)])) return;
  const options = ['-O3', '--enable', 'simd', '--runtime', 'stub', '--importMemory', '--noExportMemory', '--noAssert'];
  run('assemblyscript/bin/asc.js', [path.join('src', file), '--outFile', wasm, ...options]);
}

/** Reports whether an output is younger than everything that it is made of: a kernel takes longer to compile than all of src/. */
function isCurrent(output, inputs) {
  return existsSync(output) && inputs.every((input) => statSync(input).mtimeMs < statSync(output).mtimeMs);
}

/** Runs a program of a package; if that fails, so does the build. */
function run(program, args) {
  const [name, ...file] = program.split('/');
  const folder = path.dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
  const { status } = spawnSync(process.execPath, [path.join(folder, ...file), ...args], { cwd: top, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
