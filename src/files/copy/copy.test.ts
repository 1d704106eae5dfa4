import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { describe, expect, test } from 'vitest';
import { cannotDropPrivileges, runChild } from '../../../tests/support/child.ts';
import type { RingfenceError } from '../../errors.ts';
import { Root, type RootPath } from '../../fence/index.ts';
import { onEveryBackend, outcome, Sandbox } from '../../fence/sandbox.fixture.ts';
import { DEFAULT_CONTEXT } from '../../runtime/operation-context.ts';
import { type CopyOptions, copy as copyOp } from './copy.ts';

function copy(box: Sandbox, from: string | RootPath, to: string | RootPath, options: Partial<CopyOptions> = {}) {
  const end = (place: string | RootPath) => (typeof place === 'string' ? box.at(place) : place);
  return copyOp(end(from), end(to), { durable: true, ...options }, DEFAULT_CONTEXT);
}

onEveryBackend((open, backend) => {
  describe('a file', () => {
    test('is copied with its mode, and missing parents are created', async () => {
      using box = open();
      box.file('f', 'content', 0o750);
      const result = await copy(box, 'f', 'new/deep/g');
      expect(result).toEqual({ destination: 'new/deep/g', isDirectory: false, bytes: 7, skipped: [] });
      expect([box.text('new/deep/g'), box.mode('new/deep/g'), box.text('f')]).toEqual(['content', '750', 'content']);
      expect(box.tree()).toEqual(['f', 'new/', 'new/deep/', 'new/deep/g']);
    });

    test('replaces a file atomically, through a link that stays inside', async () => {
      using box = open();
      box.file('f', 'new');
      box.file('g', 'a longer old content');
      box.link('g', 'link');
      await copy(box, 'f', 'link');
      expect(box.text('g')).toBe('new');
      expect(box.tree()).toEqual(['f', 'g', 'link -> g']);
      expect(await outcome(copy(box, 'f', 'g', { overwrite: false }))).toBe('already_exists');
    });

    test('goes into a destination that is a folder, under its own name', async () => {
      using box = open();
      box.file('f', 'new');
      box.folder('d');
      box.link('d', 'link');
      expect(await copy(box, 'f', 'd')).toMatchObject({ destination: 'd/f' });
      expect(await copy(box, 'f', 'link/')).toMatchObject({ destination: 'link/f' });
      expect(box.tree('d')).toEqual(['f']);
      box.folder('e/f');
      expect(await outcome(copy(box, 'f', 'e'))).toBe('is_directory');
    });

    test('is not copied onto itself, by any name', async () => {
      using box = open();
      box.file('d/f', 'content');
      box.link('f', 'd/link');
      fs.linkSync(box.host('d/f'), box.host('d/hard'));
      const other = box.open('d', backend, 'other');
      for (const to of ['d/f', 'd', 'd/../d/./f', 'd/link', 'd/hard', box.at('f', other), box.at('', other)]) {
        expect(await outcome(copy(box, 'd/f', to))).toBe('same_file');
      }
      expect(await outcome(copy(box, 'd/link', 'd/f'))).toBe('same_file');
      expect(box.text('d/f')).toBe('content');
    });

    test('special, missing and outward sources and destinations are refused', async () => {
      using box = open();
      box.file('f');
      box.file('d/f');
      execFileSync('mkfifo', [box.host('p')]);
      box.link('../outside/secret', 'out');
      box.link('../outside', 'folder');
      box.link('../outside/none', 'dangling');
      expect(await outcome(copy(box, 'p', 'x'))).toBe('special_file');
      expect(await outcome(copy(box, 'f', 'p'))).toBe('special_file');
      expect(await outcome(copy(box, 'none', 'x'))).toBe('not_found');
      expect(await outcome(copy(box, 'f', 'd/f/x'))).toBe('not_directory');
      expect(await outcome(copy(box, 'out', 'x'))).toBe('outside_root');
      for (const to of ['out', 'folder', 'folder/x', 'dangling']) {
        expect(await outcome(copy(box, 'f', to))).toBe('outside_root');
        expect(await outcome(copy(box, 'd', to))).toBe('outside_root');
      }
      expect(fs.readdirSync(box.outside)).toEqual(['secret']);
      expect(box.exists('x')).toBe(false);
    });

    test('errors carry the path they are about', async () => {
      using box = open();
      box.file('f');
      box.file('g');
      const about = (from: string, to: string) =>
        copy(box, from, to).catch(({ code, path }: RingfenceError) => `${code} ${path}`);
      expect(await about('none', 'x')).toBe('not_found none');
      expect(await about('f', 'g/x')).toBe('not_directory g/x');
      expect(await about('g/x', 'f')).toBe('not_directory g/x');
    });
  });

  describe('a folder', () => {
    test('is copied completely, with modes, empty folders and names that are not UTF-8', async () => {
      using box = open();
      box.file('d/a/f', 'content', 0o640);
      box.file('d/.hidden', '');
      box.folder('d/empty', 0o700);
      fs.writeFileSync(Buffer.concat([Buffer.from(`${box.inside}/d/`), Buffer.from([0xff])]), 'bytes');
      fs.chmodSync(box.host('d/a'), 0o2750);
      fs.chmodSync(box.host('d'), 0o711);
      const result = await copy(box, 'd', 'new/e');
      expect(result).toEqual({ destination: 'new/e', isDirectory: true, bytes: 12, skipped: [] });
      expect(box.tree('new/e')).toEqual(box.tree('d'));
      expect(['new/e', 'new/e/a', 'new/e/a/f', 'new/e/empty'].map((name) => box.mode(name))).toEqual([
        '711',
        '750',
        '640',
        '700',
      ]);
      expect(fs.readFileSync(Buffer.concat([Buffer.from(`${box.inside}/new/e/`), Buffer.from([0xff])]), 'utf8')).toBe(
        'bytes',
      );
    });

    test('goes into an existing folder, and merges with a folder of the same name in it', async () => {
      using box = open();
      box.file('d/sub/new', 'new');
      box.file('d/both', 'new');
      expect(await copy(box, 'd', '.').catch((e) => e.code)).toBe('same_file');
      box.folder('into');
      expect(await copy(box, 'd', 'into')).toMatchObject({ destination: 'into/d' });
      expect(box.tree('into/d')).toEqual(box.tree('d'));
      box.file('into/d/both', 'old');
      box.file('into/d/sub/kept', 'kept');
      await copy(box, 'd', 'into');
      expect(box.tree('into/d')).toEqual(['both', 'sub/', 'sub/kept', 'sub/new']);
      expect(box.text('into/d/both')).toBe('new');
      expect(await outcome(copy(box, 'd', 'into', { overwrite: false }))).toBe('already_exists');
    });

    test('merging keeps the modes of existing folders', async () => {
      using box = open();
      box.file('d/sub/f');
      fs.chmodSync(box.host('d/sub'), 0o700);
      box.folder('into/d/sub', 0o775);
      await copy(box, 'd', 'into');
      expect([box.mode('into/d'), box.mode('into/d/sub')]).toEqual(['755', '775']);
    });

    test('merging never writes through a link in the destination', async () => {
      using box = open();
      box.file('d/f', 'new');
      box.file('d/sub/g', 'new');
      box.link('../../../outside/secret', 'into/d/f');
      expect(await outcome(copy(box, 'd', 'into'))).toBe('ok');
      expect(box.tree('into/d')).toEqual(['f', 'sub/', 'sub/g']);
      fs.rmSync(box.host('into/d/sub'), { recursive: true });
      box.link('../../../outside', 'into/d/sub');
      expect(await outcome(copy(box, 'd', 'into'))).toBe('not_directory');
      expect(fs.readFileSync(`${box.outside}/secret`, 'utf8')).toBe('secret');
      expect(fs.readdirSync(box.outside)).toEqual(['secret']);
    });

    test('and a file do not replace each other', async () => {
      using box = open();
      box.file('d/x/f');
      box.file('file');
      box.file('into/d/x', 'a file where the tree has a folder');
      expect(await outcome(copy(box, 'd', 'file'))).toBe('not_directory');
      expect(await outcome(copy(box, 'd', 'into'))).toBe('not_directory');
      box.file('e/x');
      box.folder('into/e/x');
      expect(await outcome(copy(box, 'e', 'into'))).toBe('is_directory');
      expect(await outcome(copy(box, 'd', 'no', { recursive: false }))).toBe('is_directory');
    });

    test('is not copied into itself, however that is reached', async () => {
      using box = open();
      box.file('d/sub/f');
      box.link('d/sub', 'link');
      box.link('.', 'd/self');
      const other = box.open('d/sub', backend, 'other');
      const above = box.open('d', backend, 'above');
      const before = box.tree();
      const into = [
        'd',
        'd/',
        'd/new',
        'd/sub',
        'd/sub/a/b',
        'link',
        'link/x',
        'd/self',
        box.at('', other),
        box.at('x/y', other),
      ];
      for (const to of into) {
        expect([to, await outcome(copy(box, 'd', to))]).toEqual([to, 'into_itself']);
      }
      expect(await outcome(copy(box, '.', 'd/x'))).toBe('into_itself');
      expect(await outcome(copy(box, box.at('', above), 'd/x'))).toBe('into_itself');
      expect(await outcome(copy(box, box.at('', above), 'd'))).toBe('same_file');
      expect(box.tree()).toEqual(before);
    });

    test('is not copied into itself through a dangling link, and no folder is created', async () => {
      using box = open();
      box.file('d/f');
      box.link('d/new', 'l');
      box.link('d/new/deep', 'deep');
      box.link('../d/new/deep', 'links/up');
      box.link(box.host('d/new/deep'), 'absolute');
      box.link('deep/er', 'chain');
      const before = box.tree();
      for (const to of ['l', 'l/x', 'l/x/y', 'deep', 'deep/x', 'links/up', 'absolute/x', 'chain', 'chain/x']) {
        expect([to, await outcome(copy(box, 'd', to))]).toEqual([to, 'into_itself']);
      }
      expect(box.tree()).toEqual(before);
      box.link('other/new', 'beside');
      expect(await outcome(copy(box, 'd', 'beside'))).toBe('ok');
      expect(box.tree('other')).toEqual(['new/', 'new/f']);
    });

    test('is copied through links whose targets climb out of existing and missing folders', async () => {
      using box = open();
      box.file('d/f');
      box.folder('there');
      for (const through of ['there', 'none']) {
        box.link(`${through}/../${through}-g`, `${through}-e`);
        box.link(`${through}-new/foo`, `${through}-g`);
        expect([through, await outcome(copy(box, 'd', `${through}-e`))]).toEqual([through, 'ok']);
        expect(box.tree(`${through}-new`)).toEqual(['foo/', 'foo/f']);
        box.link(`${through}2/../${through}-own`, `${through}-h`);
        box.link('d/new', `${through}-own`);
        expect(await outcome(copy(box, 'd', `${through}-h`))).toBe('into_itself');
        box.link(`${through}3/../${through}-circle`, `${through}-circle`);
        expect(await outcome(copy(box, 'd', `${through}-circle`))).toBe('link_loop');
      }
      expect(box.tree('d')).toEqual(['f']);
    });

    test('merging replaces files by links, but no folders', async () => {
      using box = open();
      box.file('d/f');
      box.link('f', 'd/l');
      box.file('into/d/l', 'old');
      await copy(box, 'd', 'into');
      expect(box.tree('into/d')).toEqual(['f', 'l -> f']);
      box.file('again/d/l/kept');
      expect(await outcome(copy(box, 'd', 'again'))).toBe('is_directory');
      expect(box.tree('again/d')).toContain('l/kept');
    });

    test('can be copied next to itself, also to a name with the same prefix', async () => {
      using box = open();
      box.file('d/f');
      await copy(box, 'd', 'd2');
      await copy(box, 'd', 'd2/d');
      expect(box.tree('d2')).toEqual(['d/', 'd/f', 'f']);
    });

    test('a whole root goes into another', async () => {
      using box = open();
      box.file('a/f');
      box.folder('b');
      const a = box.open('a', backend, 'a');
      const b = box.open('b', backend, 'b');
      expect(await copy(box, box.at('', a), box.at('x', b))).toMatchObject({ destination: 'x' });
      await copy(box, box.at('', a), box.at('', b));
      expect(box.tree('b')).toEqual(['f', 'x/', 'x/f']);
    });
  });

  describe('links in a folder', () => {
    test('stay links if they lead into the tree', async () => {
      using box = open();
      box.file('d/sub/f', 'content');
      box.link('sub/f', 'd/down');
      box.link('../down', 'd/sub/up');
      box.link('.', 'd/self');
      box.link('..', 'd/sub/parent');
      box.link('not-yet', 'd/dangling');
      box.link(box.host('d/sub/f'), 'd/absolute');
      box.link('../../d/sub/f', 'd/sub/around');
      const { skipped } = await copy(box, 'd', 'e');
      expect(skipped).toEqual([]);
      expect(box.tree('e')).toEqual([
        'absolute -> sub/f',
        'dangling -> not-yet',
        'down -> sub/f',
        'self -> .',
        'sub/',
        'sub/around -> f',
        'sub/f',
        'sub/parent -> ..',
        'sub/up -> ../down',
      ]);
      fs.rmSync(box.host('d'), { recursive: true });
      expect(['e/down', 'e/sub/up', 'e/absolute', 'e/sub/around'].map((name) => box.text(name))).toEqual(
        Array(4).fill('content'),
      );
    });

    test('become copies of their targets elsewhere in the root', async () => {
      using box = open();
      box.file('other/f', 'content', 0o600);
      box.file('other/deep/g', 'deep');
      box.link('../other/f', 'd/file');
      box.link('../other', 'd/folder');
      box.link(box.host('other/deep'), 'd/absolute');
      const { skipped } = await copy(box, 'd', 'e');
      expect(skipped).toEqual([]);
      expect(box.tree('e')).toEqual([
        'absolute/',
        'absolute/g',
        'file',
        'folder/',
        'folder/deep/',
        'folder/deep/g',
        'folder/f',
      ]);
      expect([box.text('e/file'), box.mode('e/file')]).toEqual(['content', '600']);
    });

    test('in a copied link target that lead back into the tree lead to the copy', async () => {
      using box = open();
      box.file('d/f', 'in the tree');
      box.link('../other', 'd/folder');
      box.link('../../d/f', 'other/deep/back');
      box.link('../d/f', 'other/back');
      await copy(box, 'd', 'e');
      fs.rmSync(box.host('d'), { recursive: true });
      expect([box.text('e/folder/back'), box.text('e/folder/deep/back')]).toEqual(['in the tree', 'in the tree']);
    });

    test('are skipped and reported if they lead outside or nowhere, as special files are', async () => {
      using box = open();
      box.file('d/f');
      box.link('../../outside/secret', 'd/secret');
      box.link('../../../outside', 'd/sub/folder');
      box.link('/etc/passwd', 'd/absolute');
      box.link('secret', 'd/chain');
      box.link('../none', 'd/nowhere');
      box.link('circle', 'd/circle');
      execFileSync('mkfifo', [box.host('d/sub/pipe')]);
      const { skipped } = await copy(box, 'd', 'e');
      expect(skipped.toSorted()).toEqual([
        'absolute',
        'chain',
        'circle',
        'nowhere',
        'secret',
        'sub/folder',
        'sub/pipe',
      ]);
      expect(box.tree('e')).toEqual(['f', 'sub/']);
    });

    test('that lead to an ancestor do not recurse forever', async () => {
      using box = open();
      box.file('a/d/f');
      box.file('a/other');
      box.link('..', 'a/d/parent');
      box.link('/', 'a/d/outward');
      box.link('../..', 'a/d/root');
      box.link('../../b', 'a/d/to-b');
      box.link('../a', 'b/to-a');
      const { skipped } = await copy(box, 'a/d', 'copy');
      expect(skipped.toSorted()).toEqual(['outward', 'parent', 'root', 'to-b/to-a']);
      expect(box.tree('copy')).toEqual(['f', 'to-b/']);
    });
  });

  test('an aborted copy leaves nothing behind', async () => {
    using box = open();
    for (let i = 0; i < 200; i += 1) box.file(`d/${i % 7}/${i}`);
    const stop = new AbortController();
    let files = 0;
    const progress = () => {
      files += 1;
      if (files === 100) stop.abort();
    };
    const attempt = copyOp(box.at('d'), box.at('e'), { durable: false }, { signal: stop.signal, progress });
    expect(await outcome(attempt)).toBe('cancelled');
    expect(fs.readdirSync(box.inside)).toEqual(['d']);
  });

  test('a destination created concurrently is not overwritten', async () => {
    using box = open();
    for (let i = 0; i < 5; i += 1) box.file(`d/${i}`);
    const progress = () => fs.mkdirSync(box.host('e'), { recursive: true });
    const attempt = copyOp(box.at('d'), box.at('e'), { durable: false }, { ...DEFAULT_CONTEXT, progress });
    expect(await outcome(attempt)).toBe('already_exists');
    expect(fs.readdirSync(box.inside).sort()).toEqual(['d', 'e']);
    expect(box.tree('e')).toEqual([]);
  });
});

test('files of many sizes are copied byte for byte', async () => {
  using box = new Sandbox('openat2');
  for (const size of [0, 1, 4096, 1024 * 1024 - 1, 1024 * 1024, 1024 * 1024 + 1, 3 * 1024 * 1024 + 7]) {
    const content = Buffer.alloc(size, 'some text to copy ');
    box.file('f', content);
    expect((await copy(box, 'f', 'g')).bytes).toBe(size);
    expect(fs.readFileSync(box.host('g')).equals(content)).toBe(true);
  }
});

// /proc/self/mem opens like a regular file, and reading it at address 0 fails with EIO.
test.skipIf(process.platform !== 'linux')('a failed read carries the path of the source (needs Linux)', async () => {
  using box = new Sandbox('openat2');
  using proc = Root.open('proc', '/proc/self');
  const attempt = copy(box, box.at('mem', proc), 'x');
  await expect(attempt).rejects.toMatchObject({ code: 'io_error', path: 'mem', root: 'proc' });
  expect(box.tree()).toEqual([]);
});

test('setuid is not copied', async () => {
  using box = new Sandbox('openat2');
  box.file('f', 'x', 0o4755);
  await copy(box, 'f', 'g');
  expect(box.mode('g')).toBe('755');
});

describe.skipIf(cannotDropPrivileges)(`as a user without rights (${cannotDropPrivileges ?? 'nobody'})`, () => {
  /** A tree owned by user nobody, with a read-only folder. */
  function makeTree(box: Sandbox): void {
    fs.chmodSync(box.inside, 0o777);
    for (let i = 0; i < 40; i += 1) box.file(`d/a-closed/${i}`);
    for (let i = 0; i < 40; i += 1) box.file(`d/b/${i}`);
    execFileSync('chown', ['-R', '65534:65534', box.host('d')]);
    fs.chmodSync(box.host('d/a-closed'), 0o555);
  }

  test('an aborted copy leaves nothing behind, whatever its modes', async () => {
    using box = new Sandbox('openat2');
    makeTree(box);
    const script = `
      const stop = new AbortController();
      let calls = 0;
      const progress = () => { if (++calls === 150) stop.abort(); };
      answer(await outcome(copy(at('d'), at('e'), { durable: false }, { signal: stop.signal, progress })));`;
    expect(await runChild(script, { folder: box.inside, unprivileged: true })).toBe('cancelled');
    expect(fs.readdirSync(box.inside)).toEqual(['d']);
  });

  test('a copy has the modes of the source, and an unreadable file is reported by path', async () => {
    using box = new Sandbox('openat2');
    makeTree(box);
    box.file('unreadable/deep/f', 'x', 0o600);
    const script = `
      const first = await outcome(copy(at('d'), at('e'), { durable: false }, DEFAULT_CONTEXT));
      const error = await copy(at('unreadable'), at('u'), { durable: false }, DEFAULT_CONTEXT).catch((e) => e);
      answer([first, error.code, error.path]);`;
    const answer = await runChild(script, { folder: box.inside, unprivileged: true });
    expect(answer).toEqual(['ok', 'permission_denied', 'unreadable/deep/f']);
    expect(box.mode('e/a-closed')).toBe('555');
    expect(fs.readdirSync(box.inside).sort()).toEqual(['d', 'e', 'unreadable']);
  });

  test('a writable folder of another user can be merged into', async () => {
    using box = new Sandbox('openat2');
    makeTree(box);
    box.folder('into/d/b', 0o777);
    fs.chmodSync(box.host('into/d'), 0o777);
    const script = `answer(await outcome(copy(at('d'), at('into'), { durable: false }, DEFAULT_CONTEXT)));`;
    expect(await runChild(script, { folder: box.inside, unprivileged: true })).toBe('ok');
    expect(box.tree('into/d')).toEqual(box.tree('d'));
  });

  test('a read-only file is not replaced by a link', async () => {
    using box = new Sandbox('openat2');
    fs.chmodSync(box.inside, 0o777);
    box.file('d/f', 'new');
    box.link('f', 'd/l');
    box.folder('into/d', 0o777);
    box.file('into/d/l', 'old');
    const script = `answer(await outcome(copy(at('d'), at('into'), { durable: false }, DEFAULT_CONTEXT)));`;
    expect(await runChild(script, { folder: box.inside, unprivileged: true })).toBe('permission_denied');
    expect(box.text('into/d/l')).toBe('old');
  });

  test('a read-only destination file is not replaced', async () => {
    using box = new Sandbox('openat2');
    fs.chmodSync(box.inside, 0o777);
    box.file('f', 'new');
    box.file('g', 'old');
    const script = `answer(await outcome(copy(at('f'), at('g'), { durable: false }, DEFAULT_CONTEXT)));`;
    expect(await runChild(script, { folder: box.inside, unprivileged: true })).toBe('permission_denied');
    expect(box.text('g')).toBe('old');
    expect(box.tree()).toEqual(['f', 'g']);
  });
});

describe('with an exact destination (intoFolders: false)', () => {
  const exact = { intoFolders: false };

  test('a folder merges with a folder, and a file does not go into one', async () => {
    using box = new Sandbox('openat2');
    box.file('d/f', 'new');
    box.file('to/f', 'old');
    box.file('to/own');
    box.file('file');
    expect(await copy(box, 'd', 'to', exact)).toMatchObject({ destination: 'to', bytes: 3 });
    expect(box.tree('to')).toEqual(['f', 'own']);
    expect(box.text('to/f')).toBe('new');
    expect(await outcome(copy(box, 'file', 'to', exact))).toBe('is_directory');
  });

  test('any existing destination is already_exists without overwrite', async () => {
    using box = new Sandbox('openat2');
    box.file('f');
    box.file('d/f');
    box.file('other/file');
    for (const from of ['f', 'd']) {
      for (const to of ['other', 'other/file']) {
        expect(await outcome(copy(box, from, to, { ...exact, overwrite: false }))).toBe('already_exists');
      }
    }
  });

  test('a link to the folder it is in can be merged into', async () => {
    using box = new Sandbox('openat2');
    box.file('d/f');
    box.folder('to');
    box.link('.', 'to/here');
    await copy(box, 'd', 'to/here', exact);
    expect(box.tree('to')).toEqual(['f', 'here -> .']);
    // The folder's descriptor must be closed only once: a second close could hit a reused descriptor.
    expect(await copy(box, 'd', 'again', exact)).toMatchObject({ isDirectory: true });
  });
});
