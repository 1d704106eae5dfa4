import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { expect, test } from 'vitest';
import { tempDir } from '../../../tests/support/temp-dir.ts';
import { compileFileType } from './compile-file-type.ts';
import { FILE_TYPES } from './file-types.ts';

function ripgrep(...args: string[]): string[] {
  return execFileSync(rgPath, ['--no-config', ...args], { encoding: 'utf8' })
    .trim()
    .split('\n');
}

test("the table is ripgrep's; scripts/generate-file-types.js writes it", () => {
  const table = Object.entries(FILE_TYPES).map(([name, globs]) => `${name}: ${globs.replaceAll(' ', ', ')}`);
  expect(table).toEqual(ripgrep('--type-list'));
  expect(table.length).toBeGreaterThan(200);
});

test('every type has the files that it has for ripgrep', () => {
  const folder = tempDir();
  const names = Object.values(FILE_TYPES)
    .flatMap((globs) => globs.split(' '))
    .flatMap((glob) => [glob.replaceAll('*', 'x'), glob.replaceAll('*', '')])
    .map((name) => name.replace(/\[(.).*?\]/g, '$1'));
  for (const name of names) fs.writeFileSync(path.join(folder, name), '');
  // ripgrep knows no type of a file whose name ends in a dot.
  const all = fs.readdirSync(folder).filter((name) => !name.endsWith('.'));
  expect(all.length).toBeGreaterThan(700);
  for (const type of ['ts', 'c', 'cpp', 'make', 'license', 'man', 'docker', 'bazel', 'py']) {
    const found = ripgrep('--files', '-uu', '--type', type, folder).map((file) => path.basename(file));
    expect(all.filter(compileFileType(type)), type).toEqual(found.sort());
  }
  fs.rmSync(folder, { recursive: true });
});
