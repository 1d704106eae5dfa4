import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { PAGES, TOP, pageText as text } from './support/docs/doc-pages.ts';

/** How GitHub names the anchor of a heading. */
const anchor = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

const anchorsOf = (page: string) => [...text(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchor(heading));

test('the generated tables are current', () => {
  expect(() =>
    execFileSync(process.execPath, [path.join(TOP, 'scripts/generate-docs.js'), '--check'], { stdio: 'pipe' }),
  ).not.toThrow();
});

const linksOf = (page: string) => {
  const prose = text(page).replaceAll(/```[\s\S]*?```/g, '');
  return [...prose.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, link = '']) => link);
};

const targetOf = (page: string, link: string) => {
  const [file = '', heading] = link.split('#');
  return { target: file === '' ? page : path.posix.join(path.posix.dirname(page), file), heading };
};

test.each(PAGES)('the links of %s lead somewhere', (page) => {
  for (const link of linksOf(page)) {
    const { target, heading } = targetOf(page, link);
    expect(fs.existsSync(path.join(TOP, target)), link).toBe(true);
    if (heading !== undefined) expect(anchorsOf(target), link).toContain(heading);
  }
});

/** Returns all that can be reached from a page by links. */
function reachable(start: string): Set<string> {
  const found = new Set([start]);
  for (const page of found) {
    if (!page.endsWith('.md')) continue;
    for (const link of linksOf(page)) found.add(targetOf(page, link).target);
  }
  return found;
}

test('every page and picture of the docs can be reached from their index, and the index from the README', () => {
  const all = fs
    .readdirSync(path.join(TOP, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => path.extname(name) !== '')
    .map((name) => `docs/${name.replaceAll(path.sep, '/')}`);
  const found = reachable('docs/README.md');
  expect(all.length).toBeGreaterThan(30);
  expect(all.filter((name) => !found.has(name))).toEqual([]);
  expect(linksOf('README.md')).toContain('docs/README.md');
});

test('the index itself has every page of the docs', () => {
  const listed = new Set(linksOf('docs/README.md').map((link) => targetOf('docs/README.md', link).target));
  expect(PAGES.filter((page) => page.startsWith('docs/') && page !== 'docs/README.md' && !listed.has(page))).toEqual(
    [],
  );
});

describe('pictures', () => {
  const pictures = fs.readdirSync(path.join(TOP, 'docs/images')).filter((name) => name.endsWith('.svg'));

  test.each(pictures)('%s has a title, its own background, and colours for light and dark', (name) => {
    const svg = fs.readFileSync(path.join(TOP, 'docs/images', name), 'utf8');
    expect(svg).toMatch(/<title>.+<\/title>/);
    expect(svg).toContain('prefers-color-scheme: dark');
    expect(svg).toMatch(/<rect class="page" width="(\d+)" height="(\d+)"/);
    expect(svg).not.toMatch(/<script|href=|@import|url\(/);
  });

  test('every picture in a page says in words what it shows', () => {
    for (const page of PAGES) {
      for (const [, words = ''] of text(page).matchAll(/!\[([^\]]*)\]\(/g))
        expect(words.length, page).toBeGreaterThan(20);
    }
  });
});
