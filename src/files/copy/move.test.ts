import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import { describe, expect, test } from 'vitest';
import { cannotDropPrivileges, runChild } from '../../../tests/support/child.ts';
import type { RingfenceError } from '../../errors.ts';
import { BACKEND_NAMES, type RootPath } from '../../fence/index.ts';
import { memory, onEveryBackend, outcome, Sandbox } from '../../fence/sandbox.fixture.ts';
import { DEFAULT_CONTEXT } from '../../runtime/operation-context.ts';
import { type MoveOptions, move as moveOp } from './move.ts';

function move(box: Sandbox, from: string | RootPath, to: string | RootPath, options: Partial<MoveOptions> = {}) {
  const end = (place: string | RootPath) => (typeof place === 'string' ? box.at(place) : place);
  return moveOp(end(from), end(to), { durable: true, ...options }, DEFAULT_CONTEXT);
}

onEveryBackend((open, backend) => {
  test('renames files and folders, and creates missing parents', async () => {
    using box = open();
    box.file('f', 'content', 0o4750);
    box.file('d/sub/g');
    const { ino } = fs.statSync(box.host('f'));
    expect(await move(box, 'f', 'new/deep/h')).toEqual({ destination: 'new/deep/h' });
    expect(fs.statSync(box.host('new/deep/h')).ino).toBe(ino);
    expect(box.mode('new/deep/h')).toBe('4750');
    await move(box, 'd', 'e');
    expect(box.tree()).toEqual(['e/', 'e/sub/', 'e/sub/g', 'new/', 'new/deep/', 'new/deep/h']);
  });

  test('replaces a file only with overwrite', async () => {
    using box = open();
    box.file('f', 'new');
    box.file('g', 'old');
    expect(await outcome(move(box, 'f', 'g', { overwrite: false }))).toBe('already_exists');
    expect([box.text('f'), box.text('g')]).toEqual(['new', 'old']);
    await move(box, 'f', 'g');
    expect(box.tree()).toEqual(['g']);
    expect(box.text('g')).toBe('new');
    await move(box, 'g', 'h', { overwrite: false });
    box.file('d/x');
    await move(box, 'd', 'e', { overwrite: false });
    expect(box.tree()).toEqual(['e/', 'e/x', 'h']);
  });

  test('goes into a destination that is a folder', async () => {
    using box = open();
    box.file('f');
    box.file('d/g');
    box.folder('into');
    box.link('into', 'link');
    expect(await move(box, 'f', 'into')).toEqual({ destination: 'into/f' });
    expect(await move(box, 'd', 'link')).toEqual({ destination: 'link/d' });
    expect(box.tree('into')).toEqual(['d/', 'd/g', 'f']);
    box.file('f', 'again');
    expect(await outcome(move(box, 'f', 'into', { intoFolders: false, overwrite: false }))).toBe('already_exists');
    expect(await outcome(move(box, 'f', 'into', { intoFolders: false }))).toBe('is_directory');
    box.file('d/other');
    expect(await outcome(move(box, 'd', 'into'))).toBe('not_empty');
    box.folder('into/f2');
    box.file('f2');
    expect(await outcome(move(box, 'f2', 'into'))).toBe('is_directory');
    expect(box.tree('into')).toEqual(['d/', 'd/g', 'f', 'f2/']);
  });

  test('refuses to move onto or into itself, and loses nothing', async () => {
    using box = open();
    box.file('d/sub/f', 'content');
    box.link('sub', 'd/link');
    const other = box.open('d', backend, 'other');
    const before = box.tree();
    for (const to of [
      'd/sub/f',
      'd/sub',
      'd/./sub/../sub/f',
      'd/link/f',
      box.at('sub', other),
      box.at('sub/f', other),
    ]) {
      expect([to, await outcome(move(box, 'd/sub/f', to))]).toEqual([to, 'same_file']);
    }
    for (const to of ['d', 'd/x', 'd/sub', 'd/sub/x/y', 'd/link/x', box.at('', other), box.at('x', other)]) {
      expect([to, await outcome(move(box, 'd', to))]).toEqual([to, 'into_itself']);
    }
    expect(await outcome(move(box, 'd/sub', 'd'))).toBe('same_file');
    expect(await outcome(move(box, '.', 'd/x'))).toBe('root_itself');
    expect(await outcome(move(box, box.at('', other), 'x'))).toBe('root_itself');
    expect(box.tree()).toEqual(before);
    expect(box.text('d/sub/f')).toBe('content');
  });

  test('refuses to move into itself through a dangling link before creating folders, but replaces such a link', async () => {
    using box = open();
    box.file('d/f');
    box.link('d/new', 'l');
    box.link('d/new/deep', 'deep');
    box.link(box.host('d/new/deep'), 'absolute');
    const before = box.tree();
    for (const to of ['l/x', 'l/x/y', 'deep/x', 'absolute/x']) {
      expect([to, await outcome(move(box, 'd', to))]).toEqual([to, 'into_itself']);
    }
    expect(box.tree()).toEqual(before);
    expect(await outcome(move(box, 'd', 'l'))).toBe('not_directory');
    expect(await outcome(move(box, 'd', 'l', { overwrite: false }))).toBe('already_exists');
    box.link('other/new', 'beside');
    expect(await outcome(move(box, 'd', 'beside/d'))).toBe('ok');
    expect(box.exists('other/new/d/f')).toBe(true);
  });

  test('moving one hard link over another leaves the other', async () => {
    using box = open();
    box.file('f', 'content');
    fs.linkSync(box.host('f'), box.host('g'));
    expect(await outcome(move(box, 'f', 'g', { overwrite: false }))).toBe('already_exists');
    await move(box, 'f', 'g');
    expect(box.tree()).toEqual(['g']);
    expect(box.text('g')).toBe('content');
  });

  test('a link is moved itself, never its target', async () => {
    using box = open();
    box.file('f');
    box.folder('into');
    const links = { good: 'f', dangling: 'none', outward: '../outside/secret', circle: 'circle', folder: 'into' };
    for (const [name, target] of Object.entries(links)) {
      box.link(target, name);
      await move(box, name, `moved-${name}`);
      await move(box, `moved-${name}`, 'into');
    }
    expect(box.tree()).toEqual([
      'f',
      'into/',
      ...Object.entries(links)
        .map(([name, to]) => `into/moved-${name} -> ${to}`)
        .sort(),
    ]);
  });

  test('a link at the destination is replaced itself, an outward one refused', async () => {
    using box = open();
    box.file('target', 'kept');
    box.link('target', 'good');
    box.link('none', 'dangling');
    box.link('no/ne', 'deep');
    box.link('target/x', 'through-file');
    box.link('circle', 'circle');
    for (const name of ['good', 'dangling', 'deep', 'through-file', 'circle']) {
      box.file('f', 'new');
      await move(box, 'f', name);
      expect([box.text(name), fs.lstatSync(box.host(name)).isFile()]).toEqual(['new', true]);
    }
    expect(box.text('target')).toBe('kept');
    box.file('f', 'new');
    box.link('../outside/secret', 'outward');
    box.link('../outside/none', 'outward-dangling');
    box.link('../outside', 'folder');
    for (const to of ['outward', 'outward-dangling', 'folder', 'folder/x', 'folder/x/y']) {
      expect(await outcome(move(box, 'f', to))).toBe('outside_root');
      expect(await outcome(move(box, 'f', to, { intoFolders: false }))).toBe('outside_root');
    }
    expect(await outcome(move(box, 'folder/secret', 'stolen'))).toBe('outside_root');
    expect(box.text('f')).toBe('new');
    expect(fs.readdirSync(box.outside)).toEqual(['secret']);
    expect(fs.readFileSync(`${box.outside}/secret`, 'utf8')).toBe('secret');
  });

  test('files and folders do not replace each other', async () => {
    using box = open();
    box.file('d/f');
    box.file('g');
    expect(await outcome(move(box, 'd', 'g'))).toBe('not_directory');
    expect(await outcome(move(box, 'd', 'g/x'))).toBe('not_directory');
    expect(await outcome(move(box, 'none', 'x'))).toBe('not_found');
    expect(box.tree()).toEqual(['d/', 'd/f', 'g']);
  });

  test('works between roots', async () => {
    using box = open();
    box.file('a/d/f');
    box.folder('b');
    const [a, b] = [box.open('a', backend, 'a'), box.open('b', backend, 'b')];
    expect(await move(box, box.at('d', a), box.at('', b))).toEqual({ destination: 'd' });
    expect(box.tree()).toEqual(['a/', 'b/', 'b/d/', 'b/d/f']);
  });
});

const sameDevice = fs.statSync(memory()).dev === fs.statSync(os.tmpdir()).dev;

describe.skipIf(sameDevice)(`across filesystems${sameDevice ? ' (there is only one here)' : ''}`, () => {
  describe.each(BACKEND_NAMES)('%s', (backend) => {
    const pair = () => ({ here: new Sandbox(backend), there: new Sandbox(backend, memory()) });

    test('a file is moved completely, with mode, owner and times, and can replace another', async () => {
      const { here, there } = pair();
      using _here = here;
      using _there = there;
      const content = Buffer.alloc(2_500_000, 'content ');
      here.file('f', content, 0o640);
      if (process.getuid?.() === 0) fs.chownSync(here.host('f'), 1234, 5678);
      fs.chmodSync(here.host('f'), 0o4640);
      const when = new Date('2020-02-03T04:05:06Z');
      fs.utimesSync(here.host('f'), when, when);
      const { uid, gid } = fs.statSync(here.host('f'));
      there.file('g', 'old', 0o600);
      expect(await outcome(move(here, 'f', there.at('g'), { overwrite: false }))).toBe('already_exists');
      expect(await move(here, 'f', there.at('g'))).toEqual({ destination: 'g' });
      expect(fs.readFileSync(there.host('g')).equals(content)).toBe(true);
      expect(fs.statSync(there.host('g'))).toMatchObject({ uid, gid, mtime: when });
      expect(there.mode('g')).toBe('4640');
      expect([here.tree(), there.tree()]).toEqual([[], ['g']]);
    });

    test('a folder is moved completely, with its links unchanged', async () => {
      const { here, there } = pair();
      using _here = here;
      using _there = there;
      here.file('d/sub/f', 'content', 0o600);
      fs.linkSync(here.host('d/sub/f'), here.host('d/hard'));
      here.folder('d/empty', 0o711);
      const links = {
        in: 'sub/f',
        out: '../../outside/secret',
        abs: '/etc/passwd',
        none: 'none',
        self: '.',
        circle: 'circle',
      };
      for (const [name, target] of Object.entries(links)) here.link(target, `d/${name}`);
      fs.symlinkSync(Buffer.from([0x78, 0xff]), here.host('d/bytes'));
      const before = here.tree('d');
      expect(await move(here, 'd', there.at('new/e'))).toEqual({ destination: 'new/e' });
      expect(there.tree('new/e')).toEqual(before);
      expect(fs.readlinkSync(there.host('new/e/bytes'), 'buffer')).toEqual(Buffer.from([0x78, 0xff]));
      expect([there.mode('new/e/empty'), there.mode('new/e/sub/f'), there.text('new/e/hard')]).toEqual([
        '711',
        '600',
        'content',
      ]);
      expect(here.tree()).toEqual([]);
      expect(there.tree()).toHaveLength(before.length + 2);
    });

    test('folders keep set-group-ID and sticky bits', async () => {
      const { here, there } = pair();
      using _here = here;
      using _there = there;
      here.file('d/shared/f');
      for (const [name, mode] of Object.entries({ 'd/shared': 0o2775, d: 0o1777 })) {
        fs.chownSync(here.host(name), process.getuid?.() ?? 0, process.getgid?.() ?? 0);
        fs.chmodSync(here.host(name), mode);
      }
      await move(here, 'd', there.at('e'));
      expect([there.mode('e'), there.mode('e/shared')]).toEqual(['1777', '2775']);
    });

    test('reads no other fields of the context', async () => {
      const { here, there } = pair();
      using _here = here;
      using _there = there;
      here.file('d/f');
      const context = {
        ...DEFAULT_CONTEXT,
        get other(): never {
          throw new Error('must not be read');
        },
      };
      expect(await moveOp(here.at('d'), there.at('e'), { durable: false }, context)).toEqual({ destination: 'e' });
    });

    test('a link is moved unchanged', async () => {
      const { here, there } = pair();
      using _here = here;
      using _there = there;
      here.link('../outside/secret', 'l');
      await move(here, 'l', there.at('m'));
      expect([here.tree(), there.tree()]).toEqual([[], ['m -> ../outside/secret']]);
      here.link('x', 'l');
      there.file('n');
      expect(await outcome(move(here, 'l', there.at('n'), { overwrite: false }))).toBe('already_exists');
      expect([here.tree(), there.tree()]).toEqual([['l -> x'], ['m -> ../outside/secret', 'n']]);
    });

    test('a failed move leaves the source, and nothing at the destination', async () => {
      const { here, there } = pair();
      using _here = here;
      using _there = there;
      here.file('d/f');
      execFileSync('mkfifo', [here.host('d/pipe')]);
      const error = await move(here, 'd', there.at('e')).catch((e: RingfenceError) => e);
      expect(error).toMatchObject({ code: 'special_file', path: 'd/pipe', root: 'workspace' });
      expect(await outcome(move(here, 'd/pipe', there.at('e')))).toBe('special_file');
      there.file('full/d/x');
      fs.unlinkSync(here.host('d/pipe'));
      expect(await outcome(move(here, 'd', there.at('full')))).toBe('not_empty');
      there.file('file');
      expect(await outcome(move(here, 'd', there.at('file')))).toBe('not_directory');
      expect([here.tree(), there.tree()]).toEqual([
        ['d/', 'd/f'],
        ['file', 'full/', 'full/d/', 'full/d/x'],
      ]);
    });

    test('an aborted move leaves the source, and nothing at the destination', async () => {
      const { here, there } = pair();
      using _here = here;
      using _there = there;
      for (let i = 0; i < 30; i += 1) here.file(`d/${i}`);
      const stop = new AbortController();
      let calls = 0;
      const progress = () => {
        calls += 1;
        if (calls === 20) stop.abort();
      };
      const attempt = moveOp(here.at('d'), there.at('e'), { durable: false }, { signal: stop.signal, progress });
      expect(await outcome(attempt)).toBe('cancelled');
      expect(here.tree('d')).toHaveLength(30);
      expect(there.tree()).toEqual([]);
    });
  });

  test.each([
    ['an empty file that is added', (box: Sandbox) => box.file('d/z-late', '')],
    ['a folder that is added', (box: Sandbox) => box.folder('d/a/late')],
    ['a link that is added', (box: Sandbox) => box.link('f', 'd/late')],
    ['a file that is rewritten at the same size', (box: Sandbox) => box.file('d/a/f', 'nnn')],
    [
      'a file that is replaced',
      (box: Sandbox) => {
        fs.writeFileSync(box.host('d/new'), 'old');
        fs.renameSync(box.host('d/new'), box.host('d/a/f'));
      },
    ],
  ])('%s during the move is not lost', async (_, change) => {
    using here = new Sandbox('openat2');
    using there = new Sandbox('openat2', memory());
    here.file('d/a/f', 'old');
    here.file('d/b', 'last');
    let changed = false;
    const progress = () => {
      if (!changed) change(here);
      changed = true;
    };
    // Progress is first reported after one file was copied, so the change comes during the copy.
    const attempt = moveOp(here.at('d'), there.at('e'), { durable: false }, { ...DEFAULT_CONTEXT, progress });
    expect(await outcome(attempt)).toBe('changed_meanwhile');
    expect(here.exists('d/a/f')).toBe(true);
    expect(there.tree()).toEqual([]);
  });

  test('a file that is replaced during the move is not lost', async () => {
    using here = new Sandbox('openat2');
    using there = new Sandbox('openat2', memory());
    here.file('f', 'old');
    const progress = () => {
      here.file('g', 'new');
      fs.renameSync(here.host('g'), here.host('f'));
    };
    const other = there.open('.', 'openat2', 'other');
    const attempt = moveOp(here.at('f'), there.at('g', other), { durable: false }, { ...DEFAULT_CONTEXT, progress });
    await expect(attempt).rejects.toMatchObject({ code: 'changed_meanwhile', path: 'f', root: 'workspace' });
    expect(here.text('f')).toBe('new');
  });
});

describe.skipIf(cannotDropPrivileges)(`as a user without rights (${cannotDropPrivileges ?? 'nobody'})`, () => {
  test('read-only destinations and folders are refused, and nothing is lost', async () => {
    using box = new Sandbox('openat2');
    box.folder('own');
    box.file('own/f', 'new');
    box.file('own/read-only', 'old', 0o444);
    execFileSync('chown', ['-R', '65534:65534', box.host('own')]);
    box.file('closed/g', 'theirs');
    const script = `
      const tries = [['own/f', 'own/read-only'], ['own/f', 'closed/f'], ['own/f', 'f'], ['closed/g', 'own/g']];
      const outcomes = [];
      for (const [a, b] of tries) outcomes.push(await outcome(move(at(a), at(b), { durable: true }, DEFAULT_CONTEXT)));
      outcomes.push(await outcome(move(at('own/read-only'), at('own/renamed'), { durable: true }, DEFAULT_CONTEXT)));
      answer(outcomes);`;
    const outcomes = await runChild(script, { folder: box.inside, unprivileged: true });
    expect(outcomes).toEqual([...Array(4).fill('permission_denied'), 'ok']);
    expect(box.tree()).toEqual(['closed/', 'closed/g', 'own/', 'own/f', 'own/renamed']);
    expect([box.text('own/f'), box.text('own/renamed')]).toEqual(['new', 'old']);
  });

  /** The start of a child's script that moves between two roots and prints which path an error carries. */
  const between = `
      const there = Root.open('there', args[0], chooseBackend('openat2'));
      const about = async (from, to, end = root) => {
        const ends = [at(from), { root: end, path: path(to) }];
        const error = await move(...ends, { durable: false }, DEFAULT_CONTEXT).then(() => ({ code: 'ok' }), (e) => e);
        return [error.code, error.path, error.root].filter(Boolean).join(' ');
      };`;

  function ours(box: Sandbox): void {
    fs.chownSync(box.inside, 65534, 65534);
  }

  test('errors carry the path they are about', async () => {
    using box = new Sandbox('openat2');
    ours(box);
    box.file('closed/f');
    box.folder('open', 0o777);
    box.file('open/f');
    const tries = `answer([await about('closed/f', 'open/g'), await about('open/f', 'closed/g')]);`;
    const folder = box.inside;
    expect(await runChild(between + tries, { folder, args: [folder], unprivileged: true })).toEqual([
      'permission_denied closed/f workspace',
      'permission_denied closed/g workspace',
    ]);
  });

  test.skipIf(sameDevice)('errors between filesystems carry the path they are about', async () => {
    using box = new Sandbox('openat2');
    using other = new Sandbox('openat2', memory());
    for (const each of [box, other]) ours(each);
    box.file('unreadable', 'x', 0o600);
    box.file('d/sub/unreadable', 'x', 0o600);
    box.file('e/sub/f');
    fs.chmodSync(box.host('e/sub'), 0o711);
    box.file('closed/f');
    box.file('g');
    other.folder('closed');
    const tries = `
      answer([
        await about('unreadable', 'a', there),
        await about('d', 'b', there),
        await about('e', 'b', there),
        await about('closed/f', 'c', there),
        await about('closed', 'd', there),
        await about('g', 'closed/g', there),
      ]);`;
    const options = { folder: box.inside, args: [other.inside], unprivileged: true };
    expect(await runChild(between + tries, options)).toEqual([
      'permission_denied unreadable workspace',
      'permission_denied d/sub/unreadable workspace',
      'permission_denied e/sub workspace',
      'permission_denied closed/f workspace',
      'permission_denied closed workspace',
      'permission_denied closed/g there',
    ]);
    expect(box.exists('unreadable') && box.exists('closed/f') && box.exists('g')).toBe(true);
  });

  test.skipIf(sameDevice)('a file that changes owner loses its setuid bit', async () => {
    using box = new Sandbox('openat2');
    using other = new Sandbox('openat2', memory());
    for (const each of [box, other]) ours(each);
    box.file('theirs', 'x', 0o6755);
    box.file('own', 'x');
    fs.chownSync(box.host('own'), 65534, 65534);
    fs.chmodSync(box.host('own'), 0o4755);
    const tries = `answer([await about('theirs', 'theirs', there), await about('own', 'own', there)]);`;
    const options = { folder: box.inside, args: [other.inside], unprivileged: true };
    expect(await runChild(between + tries, options)).toEqual(['ok', 'ok']);
    expect([other.mode('theirs'), other.mode('own')]).toEqual(['755', '4755']);
  });
});
