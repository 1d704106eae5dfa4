/** What the npm package may hold: what runs, what declares its types, and what a person should have read. */
const PATTERNS = [
  /^(package\.json|README\.md|LICENSE|SECURITY\.md|CHANGELOG\.md)$/,
  /^dist\/(?!console\/)[\w./-]+\.(js|d\.ts|wasm)$/,
  /^dist\/(modules\.json|descriptions\/[\w-]+\.json)$/,
  /^dist\/console\/(app\.js|app\.css|index\.html|icon\.svg)$/,
  /^config\/[\w.-]+\.(yaml|json)$/,
  /^config\/(reference|workspace)\/[\w./-]+$/,
  /^examples\/[\w-]+\.mjs$/,
];
/** What would not run without it. */
const NEEDED = [
  'package.json',
  'LICENSE',
  'README.md',
  'dist/bin.js',
  'dist/index.js',
  'dist/index.d.ts',
  'dist/modules.json',
];
/** In bytes. */
const BUDGET = { packed: 1_200_000, unpacked: 4_500_000 };

/** Returns what is wrong with a package, as `npm pack --json` describes it. */
export function packageProblems({ files, size, unpackedSize }) {
  const names = files.map(({ path }) => path);
  const tests = /\.(test|fixture)\./;
  return [
    ...names
      .filter((name) => tests.test(name) || !PATTERNS.some((pattern) => pattern.test(name)))
      .map((name) => `${name} does not belong there`),
    ...NEEDED.filter((name) => !names.includes(name)).map((name) => `${name} is missing`),
    ...(size > BUDGET.packed ? [`${size} bytes are more than ${BUDGET.packed}`] : []),
    ...(unpackedSize > BUDGET.unpacked ? [`${unpackedSize} bytes unpacked are more than ${BUDGET.unpacked}`] : []),
  ];
}
