// Writes the version of package.json into every file that names it, and an entry into the changelog. `npm version` runs it. With
// --check, only says which files differ.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const top = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const read = (file) => readFileSync(path.join(top, file), 'utf8');

/** Where the version stands: by file, an expression whose first group comes before it and whose second one after it. */
const PLACES = {
  'server.json': /("version": ")[^"]*(")/g,
  'mcpb/manifest.json': /^( {2}"version": ")[^"]*(")/m,
  'plugin/.claude-plugin/plugin.json': /^( {2}"version": ")[^"]*(")/m,
  'plugin/.mcp.json': /("ringfence@)[^"]*(")/,
  '.claude-plugin/marketplace.json': /("version": ")[^"]*(")/,
};

/** Returns the files as they have to be for a version, by name, as far as they differ. */
function filesFor(version, date) {
  const files = Object.entries(PLACES).map(([file, place]) => {
    if (read(file).search(place) === -1) throw new Error(`${file} names no version`);
    return [file, read(file).replace(place, `$1${version}$2`)];
  });
  const changelog = read('CHANGELOG.md');
  const entry = changelog.includes(`\n## [${version}]`)
    ? changelog
    : changelog.replace(/^## \[Unreleased\]\n/m, `## [Unreleased]\n\n## [${version}] - ${date}\n`);
  return [...files, ['CHANGELOG.md', entry]].filter(([file, text]) => text !== read(file));
}

const { version } = JSON.parse(read('package.json'));
const stale = filesFor(version, new Date().toISOString().slice(0, 10));
if (process.argv.includes('--check')) {
  if (stale.length > 0) {
    process.stderr.write(`not ${version}, run node scripts/version.js: ${stale.map(([file]) => file).join(', ')}\n`);
    process.exit(1);
  }
} else {
  for (const [file, text] of stale) writeFileSync(path.join(top, file), text);
}
