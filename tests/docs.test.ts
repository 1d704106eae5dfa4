import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { configSchema } from '../src/config/schema.ts';

const TOP = fileURLToPath(new URL('..', import.meta.url));
const PAGES = ['README.md', 'CLAUDE.md', 'CONTRIBUTING.md', 'SECURITY.md', '.agent_docs/mcp-filesystem.md'].concat(
  fs.readdirSync(path.join(TOP, 'docs')).flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : [])),
  fs
    .readdirSync(path.join(TOP, 'src'), { recursive: true, encoding: 'utf8' })
    .flatMap((name) => (name.endsWith('README.md') ? [`src/${name}`] : [])),
);

const text = (page: string) => fs.readFileSync(path.join(TOP, page), 'utf8');

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

describe.each(PAGES)('%s', (page) => {
  const links = [...text(page).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, link = '']) => link);

  test('its links lead somewhere', () => {
    for (const link of links) {
      const [file = '', heading] = link.split('#');
      const target = file === '' ? page : path.join(path.dirname(page), file);
      expect(fs.existsSync(path.join(TOP, target)), link).toBe(true);
      if (heading !== undefined) expect(anchorsOf(target), link).toContain(heading);
    }
  });

  test('its config samples have only keys that exist', () => {
    for (const [, sample = ''] of text(page).matchAll(/```yaml\n([\s\S]*?)```/g)) {
      if (!/^roots:/m.test(sample)) continue;
      expect(configSchema.safeParse(parse(sample)).error?.message, sample).toBeUndefined();
    }
  });
});
