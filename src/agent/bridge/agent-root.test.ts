import { describe, expect, test } from 'vitest';
import { RingfenceError } from '../../errors.ts';
import { outcome } from '../../fence/sandbox.fixture.ts';
import { FileCache } from '../cache/file-cache.ts';
import { SecurityPolicy } from '../policy/security-policy.ts';
import { AgentRoot } from './agent-root.ts';
import { FilesystemBridge } from './filesystem-bridge.ts';

type Answer = object | ((path: string) => object);

/** A root over a client that answers each question by the path in it. */
function rootWith(
  answers: Readonly<Record<string, Answer>>,
  { maxBytes = 1_000, allowedPaths = ['docs', 'src'] } = {},
) {
  const policy = new SecurityPolicy({ remote: true, allowedPaths });
  const bridge = new FilesystemBridge({ policy, cache: new FileCache({ maxBytes }) });
  const asked: string[] = [];
  const root = new AgentRoot({
    name: 'laptop',
    bridge,
    signal: new AbortController().signal,
    sample: async ({ messages }) => {
      const [verb, path] =
        /(Read the file|List the files and folders in) "([^"]*)"/.exec(messages[0]?.content.text ?? '')?.slice(1) ?? [];
      const question = `${verb?.startsWith('Read') ? 'read' : 'list'} ${path}`;
      asked.push(question);
      return JSON.stringify(answers[question] ?? { error: 'not_found' });
    },
  });
  return { root, bridge, asked };
}

const FILE = { content: 'one', encoding: 'utf-8' };

describe('the top of the root', () => {
  test.each(['', '.', '/', './', '//'])(
    '%j lists the names that lead to allowed paths without asking',
    async (path) => {
      const { root, asked } = rootWith({}, { allowedPaths: ['src/', 'docs/deep/er', 'README.md', 'docs/other'] });
      expect(await root.list(path)).toEqual([
        { name: 'README.md', type: 'file' },
        { name: 'docs', type: 'directory' },
        { name: 'src', type: 'directory' },
      ]);
      expect(await root.stat(path)).toEqual({ name: '.', type: 'directory' });
      expect(await outcome(root.read(path))).toBe('is_directory');
      expect(asked).toEqual([]);
    },
  );

  test('folders above an allowed path list only the names that lead to it', async () => {
    const { root, asked } = rootWith({}, { allowedPaths: ['docs/deep/er'] });
    expect(await root.list('/docs')).toEqual([{ name: 'deep', type: 'directory' }]);
    expect(await root.list('docs/deep')).toEqual([{ name: 'er', type: 'directory' }]);
    expect(await outcome(root.list('docs/other'))).toBe('path_not_allowed');
    expect(asked).toEqual([]);
  });

  test('is asked for if the whole project is allowed', async () => {
    const { root, asked } = rootWith(
      { 'list .': { path: '.', entries: [{ name: 'a', type: 'file' }] } },
      { allowedPaths: ['.'] },
    );
    expect(await root.list('')).toEqual([{ name: 'a', type: 'file' }]);
    expect(asked).toEqual(['list .']);
  });

  test('is not reachable with ".."', async () => {
    const { root, asked } = rootWith({});
    for (const path of ['docs/..', 'docs/../..', '..', 'docs\\..'])
      expect([path, await outcome(root.list(path))]).toEqual([path, 'path_not_allowed']);
    expect(asked).toEqual([]);
  });
});

test('errors name the root and the path as the caller wrote it', async () => {
  const { root } = rootWith({});
  const error = await root.read('/docs//none').catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(RingfenceError);
  expect(error).toMatchObject({ code: 'not_found', path: '/docs//none', root: 'laptop' });
  expect(await outcome(root.read('/etc/passwd'))).toBe('path_not_allowed');
});

test('a leading slash is the top of the root', async () => {
  const { root, asked } = rootWith({ 'read docs/a': FILE });
  expect((await root.read('/docs/a')).bytes.toString()).toBe('one');
  expect((await root.read('docs/a')).cached).toBe(true);
  expect(asked).toEqual(['read docs/a']);
});

test('stat lists the parent folder once, or asks for the path itself if only that is allowed', async () => {
  const { root, asked } = rootWith({
    'list docs': {
      entries: [
        { name: 'a', type: 'file', size: 3, mtime: 0 },
        { name: 'sub', type: 'directory' },
      ],
    },
    'list src': { entries: [] },
  });
  expect(await root.stat('docs/a')).toEqual({ name: 'a', type: 'file', size: 3, modified: new Date(0) });
  expect(await root.stat('docs/sub/')).toEqual({ name: 'sub', type: 'directory' });
  expect(await root.stat('docs')).toEqual({ name: 'docs', type: 'directory' });
  expect(await root.stat('src')).toEqual({ name: 'src', type: 'directory' });
  expect(await outcome(root.stat('docs/none'))).toBe('not_found');
  expect(asked).toEqual(['list docs', 'list src']);
  expect(await outcome(root.list('docs/a'))).toBe('not_directory');
  expect(await outcome(root.read('docs/sub'))).toBe('is_directory');
  expect(asked).toHaveLength(2);
});

describe('fetch', () => {
  const tree = {
    'read docs/f': { error: 'is_directory' },
    'list docs/f': {
      entries: [
        { name: 'a', type: 'file' },
        { name: 'link', type: 'symlink' },
        { name: 'told', type: 'directory', children: [{ name: 'b', type: 'file' }] },
        { name: 'untold', type: 'directory' },
      ],
    },
    'list docs/f/untold': { entries: [{ name: 'c', type: 'file' }] },
    'read docs/f/a': FILE,
    'read docs/f/told/b': FILE,
    'read docs/f/untold/c': { content: 'AP8=', encoding: 'base64' },
  };

  test('returns the bytes of a file', async () => {
    const { root } = rootWith({ 'read docs/a': FILE });
    expect(await root.fetch('docs/a')).toEqual({ bytes: Buffer.from('one') });
  });

  test('returns the contents of a folder without links', async () => {
    const { root } = rootWith(tree);
    expect(await root.fetch('docs/f/')).toEqual({
      folders: [['told'], ['untold']],
      files: [
        { names: ['a'], bytes: Buffer.from('one') },
        { names: ['told', 'b'], bytes: Buffer.from('one') },
        { names: ['untold', 'c'], bytes: Buffer.from([0, 0xff]) },
      ],
      skipped: ['link'],
    });
  });

  test('names the file of a folder that cannot be fetched', async () => {
    const { root } = rootWith({ ...tree, 'read docs/f/told/b': { error: 'permission_denied' } });
    const error = await root.fetch('docs/f/').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'permission_denied', path: 'docs/f/told/b', root: 'laptop' });
  });

  test('refuses more than the cache can hold', async () => {
    const { root } = rootWith(tree, { maxBytes: 7 });
    expect(await outcome(root.fetch('docs/f'))).toBe('too_large');
  });
});

test('files that a client without sampling handed over can be read', async () => {
  const { bridge } = rootWith({});
  const root = new AgentRoot({ name: 'laptop', bridge, sample: undefined, signal: new AbortController().signal });
  bridge.cacheFiles([{ path: 'docs/a', content: 'one' }]);
  expect((await root.read('docs/a')).bytes.toString()).toBe('one');
  expect(await outcome(root.read('docs/b'))).toBe('sampling_unsupported');
});
