import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { recordFigure } from '../support/figures.ts';

const BUILT = fileURLToPath(new URL('../../dist/console', import.meta.url));
const MAX_BYTES = 150_000;

const text = (name: string) => fs.readFileSync(path.join(BUILT, name), 'utf8');

test('the page is four files of less than 150 KB together, compressed', () => {
  const names = fs.readdirSync(BUILT).sort();
  expect(names).toEqual(['app.css', 'app.js', 'icon.svg', 'index.html']);
  const bytes = names.reduce((sum, name) => sum + gzipSync(text(name)).length, 0);
  recordFigure('console page, compressed', bytes / 1000, 'KB');
  expect(bytes).toBeLessThan(MAX_BYTES);
});

test('the page needs nothing from elsewhere, and no inline script or style', () => {
  const html = text('index.html');
  const used = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url]) => url);
  expect(used.sort()).toEqual(['/console/app.css', '/console/app.js', '/console/icon.svg']);
  expect(html).not.toMatch(/<style|style=|\son\w+=|<script(?! type="module" src=)/);
  expect(text('app.css')).not.toMatch(/url\(|@import/);
  // Names of XML namespaces and links to explanations are no requests.
  const urls = text('app.js').match(/https?:\/\/[\w./-]+/g) ?? [];
  expect(urls.filter((url) => !url.startsWith('http://www.w3.org/'))).toEqual([]);
});

test('no source of the page inserts text as markup', () => {
  const sources = fileURLToPath(new URL('../../console', import.meta.url));
  const files = fs.readdirSync(sources, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name));
  expect(files.length).toBeGreaterThan(20);
  const marked = files.filter((name) =>
    /innerHTML|insertAdjacentHTML|document\.write/i.test(fs.readFileSync(path.join(sources, name), 'utf8')),
  );
  expect(marked).toEqual([]);
});
