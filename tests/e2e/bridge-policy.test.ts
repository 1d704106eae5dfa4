import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PathValidator, SecurityError, SecurityPolicy } from '../../src/index.ts';
import { runRingfence, writeConfig } from '../support/ringfence-process.ts';
import { startServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';

const base = tempDir();
const project = path.join(base, 'project');

beforeAll(() => {
  for (const folder of ['docs/sub', 'src', 'private', '../docs']) {
    fs.mkdirSync(path.join(project, folder), { recursive: true });
  }
  for (const file of ['docs/a.md', 'docs/sub/b.md', 'private/key', '../outside.txt', '../docs/a.md']) {
    fs.writeFileSync(path.join(project, file), file);
  }
  const links: Record<string, string> = {
    'docs/inside': 'a.md',
    'docs/to-src': '../src',
    'docs/chain': 'chain-2',
    'docs/chain-2': 'inside',
    'docs/out': '../../outside.txt',
    'docs/out-absolute': '/etc',
    'docs/private': '../private/key',
    'docs/private-folder': '../private',
    'docs/chain-out': 'chain-out-2',
    'docs/chain-out-2': 'out',
    'docs/dangling-out': '../../nothing-here',
    'docs/circle': 'circle-2',
    'docs/circle-2': 'circle',
    'docs/self': 'self',
    'docs/inside-absolute': path.join(project, 'docs/a.md'),
  };
  for (const [name, target] of Object.entries(links)) fs.symlinkSync(target, path.join(project, name));
});
afterAll(() => fs.rmSync(base, { recursive: true }));

const validate = (raw: string, allowedPaths?: string[]) =>
  new PathValidator(new SecurityPolicy({ projectRoot: project, ...(allowedPaths && { allowedPaths }) })).validate(raw);

describe('filesystem-interaction/Default allowed paths', () => {
  test.each(['docs', 'src', 'tests', '.guide', '.todo'])('%s is allowed', (folder) => {
    expect(validate(`${folder}/x.md`)).toBe(`${folder}/x.md`);
  });

  test.each(['', '.', 'x.md', 'lib/x.ts', 'private/key', '.git/config', '.guid', 'doc', 'Docs/a.md'])(
    '%j is denied',
    (raw) => {
      expect(() => validate(raw)).toThrow(SecurityError);
    },
  );
});

describe('filesystem-interaction/Project-specific allowed paths', () => {
  test('those that are configured are allowed, and no others', () => {
    expect(validate('private/key', ['private'])).toBe('private/key');
    expect(() => validate('docs/a.md', ['private'])).toThrow(SecurityError);
  });

  test('a warning names each that does not exist', () => {
    const warned: string[] = [];
    const allowedPaths = ['docs/', 'nowhere/', 'src'];
    const policy = new SecurityPolicy({ projectRoot: project, allowedPaths, warn: (warning) => warned.push(warning) });
    expect(warned).toEqual([expect.stringContaining('nowhere')]);
    expect(policy.warnings).toEqual(warned);
    expect(new SecurityPolicy({ projectRoot: project }).warnings).toEqual([]);
  });

  test('the server logs that warning when it starts', async () => {
    await using rf = await startServer({
      dialect: 'guide',
      roots: [{ name: 'workspace', path: project }],
      config: { dialects: { guide: { project, allowed_paths: ['docs/', 'nowhere/'] } } },
    });
    const line = await rf.waitForLog((log) => log.level === 'warn' && JSON.stringify(log).includes('nowhere'));
    expect(JSON.stringify(line)).not.toContain('docs');
    await rf.ok('guide_cache_file', { path: 'nowhere/a.md', content: 'x' });
    const refused = await rf.fails('guide_cache_file', { path: 'src/a.md', content: 'x' });
    expect(refused).toMatchObject({ success: false, error_type: 'security' });
  });

  test('a path that leaves the project is no path to allow', async () => {
    expect(() => new SecurityPolicy({ projectRoot: project, allowedPaths: ['../x'] })).toThrow();
    const roots = [{ name: 'workspace', path: project, allowed_tools: ['*'] }];
    const config = writeConfig({ roots, dialects: { guide: { project, allowed_paths: ['../x'] } } });
    const { code, stderr } = await runRingfence(['serve', '--config', config]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('../x')]);
  });
});

test('filesystem-interaction/Path normalization: allowed paths are absolute, without trailing slashes', () => {
  const allowedPaths = ['docs/', './src//', 'tests/../private/', path.join(project, 'docs/sub/')];
  const policy = new SecurityPolicy({ projectRoot: `${project}/`, allowedPaths });
  expect(policy.projectRoot).toBe(project);
  expect(policy.allowedPaths).toEqual(['docs', 'src', 'private', 'docs/sub'].map((name) => path.join(project, name)));
});

describe('filesystem-interaction/Allowed path access', () => {
  test.each([
    ['docs/a.md', 'docs/a.md'],
    ['./docs//a.md', 'docs/a.md'],
    ['docs/sub/../a.md', 'docs/a.md'],
    ['src/../docs/a.md', 'docs/a.md'],
    ['private/../docs/a.md', 'docs/a.md'],
    ['docs/', 'docs'],
    ['docs\\sub\\b.md', 'docs/sub/b.md'],
    ['docs/not-there-yet.md', 'docs/not-there-yet.md'],
    ['docs/%2e%2e/x', 'docs/%2e%2e/x'],
    ['docs/..%2f..%2fx', 'docs/..%2f..%2fx'],
    ['docs/\uff0e\uff0e/x', 'docs/\uff0e\uff0e/x'],
    ['docs/\u2024\u2024/x', 'docs/\u2024\u2024/x'],
    ['docs/..a', 'docs/..a'],
    ['docs/a b', 'docs/a b'],
  ])('%j is %j', (raw, normalised) => {
    expect(validate(raw)).toBe(normalised);
  });

  test('a path that is validated again stays as it is', () => {
    for (const raw of ['docs\\sub\\b.md', 'docs/%2e%2e/x', 'docs/sub/../a.md']) {
      expect(validate(validate(raw))).toBe(validate(raw));
    }
  });
});

describe('filesystem-interaction/Path traversal prevention', () => {
  test('an absolute path counts from the project root', () => {
    expect(validate(path.join(project, 'docs/a.md'))).toBe('docs/a.md');
    expect(validate(`${project}/docs/../docs/a.md`)).toBe('docs/a.md');
  });

  test.each([
    '..',
    '../x',
    '../project/docs/a.md',
    'docs/../../x',
    'docs/../../../../etc/passwd',
    'docs/./../..',
    'docs/sub/../../../outside.txt',
    'docs/../private/key',
    'docs/..',
    '/etc/passwd',
    '//etc/passwd',
    '/docs/a.md',
    'docsX/a',
    'docs.bak/a',
    'docs\\..\\..\\x',
    'docs\\..\\private\\key',
    'docs/..\\../x',
    '\\\\host\\share\\x',
    'C:\\x',
    'C:/docs/x',
    'c:docs/x',
    'file:///x',
    'file:///docs/a.md',
    'https://host/docs/a.md',
    '~/docs/a.md',
    'docs/a\0.md',
    '\0docs/a.md',
    'docs/a\nb',
    ' docs/a.md',
    'docs/.. /x',
    'docs\u2215a.md',
  ])('%j is a security error', (raw) => {
    expect(() => validate(raw)).toThrow(SecurityError);
    expect(failureOf(raw)).toMatchObject({ name: 'SecurityError', errorType: 'security' });
  });

  test('a neighbour whose name begins like the project is outside', () => {
    expect(() => validate(`${project}X/docs/a.md`)).toThrow(SecurityError);
    expect(() => validate(path.join(base, 'docs/a.md'))).toThrow(SecurityError);
  });

  test('the error shows the path as it was sent, and none of this machine', () => {
    const { message, instruction } = failureOf('docs/../../x') as { message: string; instruction: string };
    expect(message).toContain('docs/../../x');
    expect(message + instruction).not.toContain(base);
  });
});

describe('filesystem-interaction/Symbolic link validation', () => {
  test.each(['docs/inside', 'docs/chain', 'docs/to-src/a.ts', 'docs/inside-absolute'])('%s stays inside', (raw) => {
    expect(() => validate(raw)).not.toThrow();
  });

  test.each([
    'docs/out',
    'docs/out-absolute',
    'docs/out-absolute/passwd',
    'docs/private',
    'docs/private-folder/key',
    'docs/chain-out',
    'docs/dangling-out',
    'docs/sub/../out',
  ])('%s leads out', (raw) => {
    expect(() => validate(raw)).toThrow(SecurityError);
  });

  test.each(['docs/circle', 'docs/circle-2/x', 'docs/self'])('%s is a circle', (raw) => {
    expect(failureOf(raw)).toMatchObject({ errorType: 'security', message: expect.stringMatching(/circ|loop/i) });
  });

  test('the tools refuse the same', async () => {
    await using guide = await startServer({ dialect: 'guide', args: ['--project', project] });
    for (const file of ['docs/out', 'docs/private', 'docs/circle', 'docs/out-absolute/passwd']) {
      const refused = await guide.fails('guide_cache_file', { path: file, content: 'x' });
      expect(refused).toMatchObject({ success: false, error_type: 'security' });
    }
    await guide.ok('guide_cache_file', { path: 'docs/inside', content: 'x' });
  });
});

function failureOf(raw: string): unknown {
  try {
    return validate(raw);
  } catch (error) {
    return error;
  }
}
