import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { FenceErrorCode } from './errors.ts';
import type { BackendName } from './index.ts';

/** The content of every file outside the root. No result of any operation may contain it. */
export const SECRET = 'SECRET-9f31-outside-the-fence';

/** The folders of one layout on the host, all of them real paths. */
export interface Places {
  /** The parent of all the others. */
  readonly base: string;
  /** Holds `file.txt`, `dir/nested.txt` and `dir/sub/deep.txt`, plus what the row adds. */
  readonly root: string;
  /** Holds `secret.txt`, `file.txt` and `dir/nested.txt`, all secret. */
  readonly outside: string;
}

export type Expectation =
  /** The content of this file, named from `root`; `asFolder` to whoever wants a folder, if not `not_directory`. */
  | { readonly file: string | Buffer; readonly asFolder?: FenceErrorCode }
  /** The entries of this folder, named from `root`. */
  | { readonly folder: string }
  /** Nothing is there yet, and it may be made: its place, named from `root`. */
  | { readonly vacant: string }
  /** `code` to whoever wants a file, `folder` to whoever wants a folder if that differs. */
  | { readonly code: FenceErrorCode; readonly folder?: FenceErrorCode };

export interface EscapeRow {
  readonly name: string;
  build?(places: Places): void;
  /** The folder that is opened as a root, where that is not `root` itself. */
  opened?(places: Places): string;
  /** The path as the caller writes it. */
  readonly path: string | ((places: Places) => string);
  readonly expect: Expectation;
  /** Backends that answer otherwise, each for a reason that its own documentation states. */
  readonly except?: Readonly<Partial<Record<BackendName, Expectation>>>;
  /** Plain `fs` reads a path differently or not at all here, so there is nothing to compare with. */
  readonly unlikePlainFs?: boolean;
  /** Hundreds of levels deep. */
  readonly farBelow?: true;
  /** Holds only for a process without root's privileges. */
  readonly unprivileged?: boolean;
  /** Why this machine cannot make the layout, if it cannot. */
  impossible?(): string | undefined;
}

export interface Layout extends Disposable {
  readonly places: Places;
  readonly rootPath: string;
  readonly outsidePath: string;
  readonly path: string;
  /** Every name, kind, mode, size, time, link target and content outside the root, as one comparable text. */
  snapshotOutside(): string;
  /** Every name, kind, mode, size, time, link target and content inside the root, as one comparable text. */
  snapshotInside(): string;
}

export function makeLayout(row: EscapeRow): Layout {
  const base = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'ringfence-layout-')));
  const places: Places = { base, root: path.join(base, 'root'), outside: path.join(base, 'outside') };
  fs.chmodSync(base, 0o755);
  tree(places.root, {
    'file.txt': 'inside file',
    'dir/nested.txt': 'inside nested',
    'dir/sub/deep.txt': 'inside deep',
  });
  tree(places.outside, { 'secret.txt': SECRET, 'file.txt': SECRET, 'dir/nested.txt': SECRET });
  row.build?.(places);
  return {
    places,
    rootPath: row.opened?.(places) ?? places.root,
    outsidePath: places.outside,
    path: typeof row.path === 'string' ? row.path : row.path(places),
    snapshotOutside: () => snapshot(base, new Set([places.root])),
    snapshotInside: () => snapshot(places.root, new Set()),
    [Symbol.dispose]: () => remove(base),
  };
}

export function expected(row: EscapeRow, backend: BackendName): Expectation {
  return row.except?.[backend] ?? row.expect;
}

const LONGEST = 'n'.repeat(255);
const DEEP = Array.from({ length: 301 }, (_, i) => `d${i}`);
/** Longer than PATH_MAX in one piece, though every name in it is fine. */
const FAR = Array.from({ length: 20 }, () => LONGEST);
const OUTSIDE = { code: 'outside_root' } as const;
const MISSING = { code: 'not_found' } as const;
const LOOP = { code: 'link_loop' } as const;
const FILE = { file: 'file.txt' } as const;
const NESTED = { file: 'dir/nested.txt' } as const;

function link(target: string | ((places: Places) => string), name: string): (places: Places) => void {
  return (places) => fs.symlinkSync(typeof target === 'string' ? target : target(places), path.join(places.root, name));
}

function links(...pairs: readonly (readonly [target: string, name: string])[]): (places: Places) => void {
  return (places) => {
    for (const [target, name] of pairs) link(target, name)(places);
  };
}

function file(name: string): (places: Places) => void {
  return ({ root }) => fs.writeFileSync(path.join(root, name), 'inside, oddly named');
}

/** Makes a chain of links, `c1 -> c2 -> … -> file.txt`. */
function chain(length: number): (places: Places) => void {
  return ({ root }) => {
    for (let i = 1; i <= length; i += 1) {
      fs.symlinkSync(i === length ? 'file.txt' : `c${i + 1}`, path.join(root, `c${i}`));
    }
  };
}

export const ESCAPE_ROWS: readonly EscapeRow[] = [
  // Plain names and dots.
  { name: 'a plain file', path: 'file.txt', expect: FILE },
  { name: 'a leading slash is the top of the root', path: '/dir/nested.txt', expect: NESTED },
  { name: 'repeated slashes and single dots', path: './/dir/././/nested.txt', expect: NESTED },
  { name: 'a trailing slash on a folder', path: 'dir/', expect: { folder: 'dir' } },
  { name: 'the empty path', path: '', expect: { folder: '' } },
  { name: 'a dot', path: '.', expect: { folder: '' } },
  { name: 'a slash', path: '/', expect: { folder: '' } },
  { name: '.. that stays inside', path: 'dir/sub/../nested.txt', expect: NESTED },
  { name: '.. back to the top', path: 'dir/..', expect: { folder: '' } },
  { name: '.. over a missing name', path: 'missing/../file.txt', expect: FILE },
  { name: '.. alone', path: '..', expect: OUTSIDE },
  { name: '.. to the secret', path: '../outside/secret.txt', expect: OUTSIDE },
  { name: '.. after a slash', path: '/../outside/secret.txt', expect: OUTSIDE },
  { name: '.. one too many', path: 'dir/sub/../../../outside/secret.txt', expect: OUTSIDE },
  { name: '.. out and back in by the name of the root', path: '../root/file.txt', expect: OUTSIDE },
  { name: '.. many times', path: `${'../'.repeat(64)}etc/passwd`, expect: OUTSIDE },
  { name: '.. after a dot and double slashes', path: './/..//outside/secret.txt', expect: OUTSIDE },
  { name: 'an absolute host path', path: ({ outside }) => `${outside}/secret.txt`, expect: MISSING },
  { name: 'an absolute host path into the root', path: ({ root }) => `${root}/file.txt`, expect: MISSING },
  { name: 'a home folder is an ordinary name', path: '~/secret.txt', expect: MISSING },
  { name: 'a file URL is an ordinary name', path: 'file:///etc/passwd', expect: MISSING },
  { name: 'a file as a parent', path: 'file.txt/x', expect: { code: 'not_directory' } },
  { name: 'a file as a parent of ..', path: 'file.txt/../dir/nested.txt', expect: NESTED },
  { name: 'a missing file', path: 'dir/new.txt', expect: { vacant: 'dir/new.txt' } },
  { name: 'a missing folder and file', path: 'a/b/new.txt', expect: { vacant: 'a/b/new.txt' } },

  // Characters.
  { name: 'a NUL byte', path: 'file.txt\0', expect: { code: 'invalid_path' } },
  { name: 'a NUL byte before an escape', path: 'dir\0/../../outside/secret.txt', expect: { code: 'invalid_path' } },
  { name: 'a percent-coded ..', path: '%2e%2e%2foutside%2fsecret.txt', expect: MISSING },
  { name: 'a percent-coded .. between slashes', path: '%2e%2e/outside/secret.txt', expect: MISSING },
  { name: 'a file really named %2e%2e', build: file('%2e%2e'), path: '%2e%2e', expect: { file: '%2e%2e' } },
  { name: 'an overlong UTF-8 slash', path: '..\u00c0\u00afoutside', expect: MISSING },
  { name: 'full-width dots and slashes', path: '\uff0e\uff0e\uff0foutside\uff0fsecret.txt', expect: MISSING },
  {
    name: 'backslashes are ordinary characters',
    path: '..\\outside\\secret.txt',
    expect: MISSING,
    impossible: onWindows,
  },
  {
    name: 'a file with backslashes in its name',
    build: file('..\\x'),
    path: '..\\x',
    expect: { file: '..\\x' },
    impossible: onWindows,
  },
  { name: 'a newline in a name', build: file('a\nb'), path: 'a\nb', expect: { file: 'a\nb' } },
  {
    name: 'a tab and an escape in a name',
    build: file('a\tb\x1b[31m'),
    path: 'a\tb\x1b[31m',
    expect: { file: 'a\tb\x1b[31m' },
  },
  { name: 'a leading dash', build: file('-rf'), path: '-rf', expect: { file: '-rf' } },
  { name: 'a trailing space', build: file('x '), path: 'x ', expect: { file: 'x ' } },
  { name: 'a trailing space on a name without one', path: 'file.txt ', expect: MISSING },
  { name: 'three dots', build: file('...'), path: '...', expect: { file: '...' } },
  { name: 'two dots and a letter', build: file('..a'), path: 'dir/../..a', expect: { file: '..a' } },
  { name: 'dots and a space are not ..', path: '.. /outside/secret.txt', expect: MISSING },
  { name: 'a composed letter', build: file('\u00e9'), path: '\u00e9', expect: { file: '\u00e9' } },
  {
    name: 'a composed letter for a decomposed name',
    build: file('e\u0301'),
    path: '\u00e9',
    expect: MISSING,
    impossible: notLinux,
  },
  { name: 'another case of a name', path: 'FILE.txt', expect: MISSING, impossible: notLinux },
  { name: 'a lone surrogate', path: 'x\ud800', expect: { code: 'invalid_path' } },
  {
    name: 'U+FFFD does not reach a name that is not UTF-8',
    build: ({ root }) => fs.writeFileSync(bytes(root, [0x78, 0xff]), 'inside, not UTF-8'),
    path: 'x\ufffd',
    expect: MISSING,
    impossible: notLinux,
  },
  {
    name: 'a link to a name that is not UTF-8',
    build: ({ root }) => {
      fs.writeFileSync(bytes(root, [0x78, 0xff]), 'inside, not UTF-8');
      fs.symlinkSync(Buffer.from([0x78, 0xff]), path.join(root, 'link'));
    },
    path: 'link',
    expect: { code: 'invalid_path' },
    unlikePlainFs: true,
    except: { openat2: { file: Buffer.from([0x78, 0xff]), asFolder: 'invalid_path' } },
    impossible: notLinux,
  },
  {
    name: 'a link through a folder whose name is not UTF-8',
    build: ({ root }) => {
      fs.mkdirSync(bytes(root, [0xff, 0x64]));
      fs.writeFileSync(bytes(root, [0xff, 0x64, 0x2f, 0x66]), 'inside, below a name that is not UTF-8');
      fs.symlinkSync(Buffer.from([0xff, 0x64]), path.join(root, 'link'));
    },
    path: 'link/f',
    expect: { code: 'invalid_path' },
    unlikePlainFs: true,
    except: { openat2: { file: Buffer.from([0xff, 0x64, 0x2f, 0x66]), asFolder: 'invalid_path' } },
    impossible: notLinux,
  },
  {
    name: 'a reserved name',
    build: file('.ringfence-tmp-x'),
    path: '.ringfence-tmp-x',
    expect: { code: 'invalid_path' },
  },
  { name: 'a reserved name as a parent', path: 'dir/.ringfence-tmp-x/y', expect: { code: 'invalid_path' } },
  {
    name: 'a name that only starts like a reserved one',
    build: file('.ringfence'),
    path: '.ringfence',
    expect: { file: '.ringfence' },
  },

  // Lengths.
  { name: 'a name of 255 bytes', build: file(LONGEST), path: LONGEST, expect: { file: LONGEST } },
  { name: 'a name of 256 bytes', path: `${LONGEST}n`, expect: { code: 'name_too_long' } },
  { name: 'a folder name of 256 bytes', path: `${LONGEST}n/x`, expect: { code: 'name_too_long' } },
  { name: 'a name of 255 letters but 510 bytes', path: '\u00e9'.repeat(255), expect: { code: 'name_too_long' } },
  {
    name: 'a long path that is not there',
    path: FAR.join('/'),
    expect: { vacant: FAR.join('/') },
    except: { portable: { code: 'not_found' } },
    unlikePlainFs: true,
  },
  {
    name: 'a path of 1,025 names',
    path: `${'d/'.repeat(1_024)}x`,
    expect: { code: 'name_too_long' },
    unlikePlainFs: true,
  },
  {
    name: 'a path of 40,000 characters',
    path: `${'./'.repeat(20_000)}file.txt`,
    expect: { code: 'name_too_long' },
    unlikePlainFs: true,
  },
  { name: 'a long path of nothing but dots', path: `${'./'.repeat(4000)}file.txt`, expect: FILE },
  { name: 'a long path that goes in and out', path: `${'dir/../'.repeat(2000)}file.txt`, expect: FILE },
  {
    name: 'a path of more than 4,096 bytes',
    build: ({ root }) => makeDeep(root, FAR, 'end.txt'),
    path: `${FAR.join('/')}/end.txt`,
    expect: { file: `${FAR.join('/')}/end.txt` },
    except: { portable: { code: 'name_too_long' } },
    unlikePlainFs: true,
  },
  {
    name: '301 levels',
    build: ({ root }) => makeDeep(root, DEEP, 'end.txt'),
    path: `${DEEP.join('/')}/end.txt`,
    farBelow: true,
    expect: { file: `${DEEP.join('/')}/end.txt` },
  },
  {
    name: 'a link up from 301 levels to the secret',
    build: ({ root }) => {
      makeDeep(root, DEEP, 'end.txt');
      fs.symlinkSync(`${'../'.repeat(DEEP.length + 1)}outside/secret.txt`, path.join(root, ...DEEP, 'up'));
    },
    path: `${DEEP.join('/')}/up`,
    farBelow: true,
    expect: OUTSIDE,
  },
  {
    name: 'a link up from 301 levels to the top',
    build: ({ root }) => {
      makeDeep(root, DEEP, 'end.txt');
      fs.symlinkSync(`${'../'.repeat(DEEP.length)}file.txt`, path.join(root, ...DEEP, 'up'));
    },
    path: `${DEEP.join('/')}/up`,
    farBelow: true,
    expect: FILE,
  },

  // Links that stay inside.
  { name: 'a link to a file', build: link('dir/nested.txt', 'l'), path: 'l', expect: NESTED },
  { name: 'a link to a folder', build: link('dir', 'l'), path: 'l/nested.txt', expect: NESTED },
  { name: 'a link to a folder, itself', build: link('dir', 'l'), path: 'l', expect: { folder: 'dir' } },
  { name: 'a link to a folder with a trailing slash', build: link('dir/', 'l'), path: 'l', expect: { folder: 'dir' } },
  {
    name: 'a link to a file with a trailing slash',
    build: link('file.txt/', 'l'),
    path: 'l',
    expect: { code: 'not_directory' },
  },
  { name: 'a link to a file and a dot', build: link('file.txt/.', 'l'), path: 'l', expect: { code: 'not_directory' } },
  {
    name: 'a link to a file and two dots',
    build: link('file.txt/..', 'l'),
    path: 'l/file.txt',
    expect: { code: 'not_directory' },
  },
  { name: 'a link with .. that stays inside', build: link('../file.txt', 'dir/l'), path: 'dir/l', expect: FILE },
  {
    name: 'a link to a link to a link',
    build: links(['l2', 'l1'], ['dir/l3', 'l2'], ['sub/deep.txt', 'dir/l3']),
    path: 'l1',
    expect: { file: 'dir/sub/deep.txt' },
  },
  { name: 'a link to the root itself', build: link('.', 'l'), path: 'l/l/l/file.txt', expect: FILE },
  {
    name: 'a link to the root from below',
    build: link('../..', 'dir/sub/l'),
    path: 'dir/sub/l',
    expect: { folder: '' },
  },
  {
    name: '.. after a link goes back to where the link is written',
    build: link('dir/sub', 'l'),
    path: 'l/../file.txt',
    expect: FILE,
  },
  {
    name: 'an absolute link inside',
    build: link(({ root }) => `${root}/dir/nested.txt`, 'l'),
    path: 'l',
    expect: NESTED,
  },
  {
    name: 'an absolute link to a folder inside',
    build: link(({ root }) => `${root}/dir`, 'l'),
    path: 'l/sub/deep.txt',
    expect: { file: 'dir/sub/deep.txt' },
  },
  {
    name: 'an absolute link to the root itself',
    build: link(({ root }) => root, 'l'),
    path: 'l/l/file.txt',
    expect: FILE,
  },
  {
    name: 'an absolute link with dots and slashes',
    build: link(({ root }) => `//${root}/./dir//../file.txt`, 'l'),
    path: 'l',
    expect: FILE,
  },
  {
    name: 'an absolute link that leaves and comes back',
    build: link(({ root }) => `${root}/../root/file.txt`, 'l'),
    path: 'l',
    expect: FILE,
  },
  { name: 'a link that climbs out and comes back in', build: link('../root/file.txt', 'l'), path: 'l', expect: FILE },
  {
    name: 'a link that climbs two levels and comes back in',
    build: link(({ base }) => `../../${path.basename(base)}/root/dir`, 'l'),
    path: 'l/nested.txt',
    expect: NESTED,
  },
  {
    name: 'a link that climbs above / and comes back in',
    build: link(({ root }) => `${'../'.repeat(30)}${root.slice(1)}/file.txt`, 'l'),
    path: 'l',
    expect: FILE,
  },
  {
    name: 'an absolute link by another name of the root',
    build: ({ base, root }) => {
      fs.symlinkSync('root', path.join(base, 'alias'));
      fs.symlinkSync(`${base}/alias/dir/nested.txt`, path.join(root, 'l'));
    },
    opened: ({ base }) => `${base}/alias`,
    path: 'l',
    expect: NESTED,
  },
  {
    name: 'an absolute link by the real name of a root opened by another',
    build: ({ base, root }) => {
      fs.symlinkSync('root', path.join(base, 'alias'));
      fs.symlinkSync(`${root}/dir/nested.txt`, path.join(root, 'l'));
    },
    opened: ({ base }) => `${base}/alias`,
    path: 'l',
    expect: NESTED,
  },
  {
    name: 'an absolute link by another name of the root, then out',
    build: ({ base, root }) => {
      fs.symlinkSync('root', path.join(base, 'alias'));
      fs.symlinkSync(`${base}/alias/../outside/secret.txt`, path.join(root, 'l'));
    },
    opened: ({ base }) => `${base}/alias`,
    path: 'l',
    expect: OUTSIDE,
  },
  {
    name: 'an absolute link by a name that only starts like another name of the root',
    build: ({ base, root, outside }) => {
      fs.symlinkSync('root', path.join(base, 'alias'));
      fs.symlinkSync(outside, path.join(base, 'alias-2'));
      fs.symlinkSync(`${base}/alias-2/secret.txt`, path.join(root, 'l'));
    },
    opened: ({ base }) => `${base}/alias`,
    path: 'l',
    expect: OUTSIDE,
  },
  { name: '40 links', build: chain(40), path: 'c1', expect: FILE },
  {
    name: 'a link to a missing file inside',
    build: link('dir/new.txt', 'l'),
    path: 'l',
    expect: { vacant: 'dir/new.txt' },
  },
  {
    name: 'a link to a missing folder inside as a parent',
    build: link('dir/new', 'l'),
    path: 'l/x.txt',
    expect: { vacant: 'dir/new/x.txt' },
  },

  // Links that leave.
  { name: 'a link to the secret', build: link('../outside/secret.txt', 'l'), path: 'l', expect: OUTSIDE },
  { name: 'a link to the folder of the secret', build: link('../outside', 'l'), path: 'l/secret.txt', expect: OUTSIDE },
  { name: 'a link to the folder of the secret, itself', build: link('../outside', 'l'), path: 'l', expect: OUTSIDE },
  { name: 'a link to the parent of the root', build: link('..', 'l'), path: 'l/outside/secret.txt', expect: OUTSIDE },
  { name: 'a link to the parent of the root, and back', build: link('..', 'l'), path: 'l/root/file.txt', expect: FILE },
  {
    name: 'a link to /, and down to the secret',
    build: link('/', 'l'),
    path: ({ outside }) => `l${outside}/secret.txt`,
    expect: OUTSIDE,
  },
  {
    name: 'an absolute link out',
    build: link(({ outside }) => `${outside}/secret.txt`, 'l'),
    path: 'l',
    expect: OUTSIDE,
  },
  {
    name: 'an absolute link to a folder out',
    build: link(({ outside }) => outside, 'l'),
    path: 'l/dir/nested.txt',
    expect: OUTSIDE,
  },
  { name: 'an absolute link to /etc/passwd', build: link('/etc/passwd', 'l'), path: 'l', expect: OUTSIDE },
  {
    name: 'an absolute link in, then out by ..',
    build: link(({ root }) => `${root}/dir/../../outside/secret.txt`, 'l'),
    path: 'l',
    expect: OUTSIDE,
  },
  {
    name: 'a link in, then out by ..',
    build: link('dir/sub/../../../outside/secret.txt', 'l'),
    path: 'l',
    expect: OUTSIDE,
  },
  {
    name: 'a link to a link out',
    build: links(['l2', 'l1'], ['../outside', 'l2']),
    path: 'l1/secret.txt',
    expect: OUTSIDE,
  },
  {
    name: 'a chain that leaves at its end',
    build: links(['dir/l2', 'l1'], ['../l3', 'dir/l2'], ['../outside/secret.txt', 'l3']),
    path: 'l1',
    expect: OUTSIDE,
  },
  {
    name: 'a link that passes another to leave by ..',
    build: links(['dir/sub', 'l1'], ['l1/../../../outside/secret.txt', 'l2']),
    path: 'l2',
    expect: OUTSIDE,
  },
  {
    name: 'a link that leaves where a textual reading would stay',
    build: links(['..', 'dir/l1'], ['dir/l1/../outside/secret.txt', 'l2']),
    path: 'l2',
    expect: OUTSIDE,
  },
  { name: 'a link out whose target is missing', build: link('../outside/new.txt', 'l'), path: 'l', expect: OUTSIDE },
  {
    name: 'an absolute link out whose target is missing',
    build: link(({ outside }) => `${outside}/new.txt`, 'l'),
    path: 'l',
    expect: OUTSIDE,
  },
  {
    name: 'a link out as the parent of a new file',
    build: link('../outside', 'l'),
    path: 'l/new.txt',
    expect: OUTSIDE,
  },
  {
    name: 'a link out as the parent of new folders',
    build: link('../outside', 'l'),
    path: 'l/a/b/new.txt',
    expect: OUTSIDE,
  },
  {
    name: 'a link out below a folder as the parent of a new file',
    build: link('../../outside', 'dir/l'),
    path: 'dir/l/new.txt',
    expect: OUTSIDE,
  },
  {
    name: 'a link out by way of a link outside that comes back in',
    build: ({ root, outside }) => {
      fs.symlinkSync(root, path.join(outside, 'back'));
      fs.symlinkSync('../outside/back/file.txt', path.join(root, 'l'));
    },
    path: 'l',
    expect: OUTSIDE,
    unlikePlainFs: true,
  },
  {
    name: 'a folder whose name starts like the root',
    build: ({ base, root }) => {
      tree(path.join(base, 'root-secret'), { 'secret.txt': SECRET });
      fs.symlinkSync('../root-secret', path.join(root, 'l'));
    },
    path: 'l/secret.txt',
    expect: OUTSIDE,
  },
  {
    name: 'an absolute link to a folder whose name starts like the root',
    build: ({ base, root }) => {
      tree(path.join(base, 'root-secret'), { 'secret.txt': SECRET });
      fs.symlinkSync(`${root}-secret/secret.txt`, path.join(root, 'l'));
    },
    path: 'l',
    expect: OUTSIDE,
  },
  {
    name: '.. to a folder whose name starts like the root',
    build: ({ base }) => tree(path.join(base, 'root-secret'), { x: SECRET }),
    path: '../root-secret/x',
    expect: OUTSIDE,
  },
  {
    name: 'a folder whose name is the start of the root',
    build: ({ base, root }) => {
      tree(path.join(base, 'roo'), { 'secret.txt': SECRET });
      fs.symlinkSync('../roo/secret.txt', path.join(root, 'l'));
    },
    path: 'l',
    expect: OUTSIDE,
  },

  // Circles.
  { name: 'a link to itself', build: link('l', 'l'), path: 'l', expect: LOOP },
  { name: 'a link to itself as a parent', build: link('l', 'l'), path: 'l/x', expect: LOOP },
  { name: 'two links to each other', build: links(['b', 'a'], ['a', 'b']), path: 'a', expect: LOOP },
  { name: 'a circle through folders', build: links(['../b/x', 'dir/x'], ['dir', 'b']), path: 'dir/x', expect: LOOP },
  { name: 'a link into itself', build: link('l/x', 'l'), path: 'l', expect: LOOP },
  { name: 'an absolute link to itself', build: link(({ root }) => `${root}/l`, 'l'), path: 'l', expect: LOOP },
  { name: 'a link that climbs out to come back to itself', build: link('../root/l', 'l'), path: 'l', expect: LOOP },
  { name: '41 links', build: chain(41), path: 'c1', expect: LOOP },
  { name: 'a link to the root, 41 times', build: link('.', 'l'), path: `${'l/'.repeat(41)}file.txt`, expect: LOOP },

  // Links in /proc, which the kernel resolves in its own way.
  {
    name: 'a link to /proc/self/root',
    build: link('/proc/self/root', 'l'),
    path: ({ outside }) => `l${outside}/secret.txt`,
    expect: OUTSIDE,
    impossible: notLinux,
  },
  {
    name: 'a link to /proc/self/cwd',
    build: link('/proc/self/cwd', 'l'),
    path: 'l/package.json',
    expect: OUTSIDE,
    impossible: notLinux,
  },
  {
    name: 'a link to /proc/self/fd/0',
    build: link('/proc/self/fd/0', 'l'),
    path: 'l',
    expect: OUTSIDE,
    impossible: notLinux,
  },
  {
    name: 'a link to /proc/self/environ',
    build: link('/proc/self/environ', 'l'),
    path: 'l',
    expect: OUTSIDE,
    impossible: notLinux,
  },
  { name: 'a link to /dev/stdin', build: link('/dev/stdin', 'l'), path: 'l', expect: OUTSIDE, impossible: notLinux },
  { name: 'a link to /dev/zero', build: link('/dev/zero', 'l'), path: 'l', expect: OUTSIDE, impossible: notLinux },

  // What is no regular file.
  {
    name: 'a FIFO',
    build: ({ root }) => run('mkfifo', path.join(root, 'p')),
    path: 'p',
    expect: { code: 'special_file', folder: 'not_directory' },
    impossible: onWindows,
  },
  {
    name: 'a link to a FIFO',
    build: ({ root }) => {
      run('mkfifo', path.join(root, 'p'));
      fs.symlinkSync('p', path.join(root, 'l'));
    },
    path: 'l',
    expect: { code: 'special_file', folder: 'not_directory' },
    impossible: onWindows,
  },
  {
    name: 'a FIFO as a parent',
    build: ({ root }) => run('mkfifo', path.join(root, 'p')),
    path: 'p/x',
    expect: { code: 'not_directory' },
    impossible: onWindows,
  },
  {
    name: 'a socket',
    build: ({ root }) => makeSocket(path.join(root, 's')),
    path: 's',
    expect: { code: 'special_file', folder: 'not_directory' },
    impossible: onWindows,
  },
  {
    name: 'a device',
    build: ({ root }) => run('mknod', path.join(root, 'null'), 'c', '1', '3'),
    path: 'null',
    expect: { code: 'special_file', folder: 'not_directory' },
    impossible: notRoot,
  },

  // Permissions.
  {
    name: 'a file without permissions',
    build: ({ root }) => fs.chmodSync(path.join(root, 'file.txt'), 0),
    path: 'file.txt',
    expect: { code: 'permission_denied', folder: 'not_directory' },
    unprivileged: true,
  },
  {
    name: 'a folder without permissions',
    build: ({ root }) => fs.chmodSync(path.join(root, 'dir'), 0),
    path: 'dir/nested.txt',
    expect: { code: 'permission_denied' },
    unprivileged: true,
  },
  {
    name: 'a link into a folder without permissions',
    build: ({ root }) => {
      fs.chmodSync(path.join(root, 'dir'), 0);
      fs.symlinkSync('dir/nested.txt', path.join(root, 'l'));
    },
    path: 'l',
    expect: { code: 'permission_denied' },
    unprivileged: true,
  },
  {
    name: 'a folder that may be crossed but not listed',
    build: ({ root }) => fs.chmodSync(path.join(root, 'dir'), 0o311),
    path: 'dir/nested.txt',
    expect: NESTED,
    unprivileged: true,
  },
  {
    name: 'an outward link below a folder without permissions',
    build: ({ root }) => {
      fs.symlinkSync('../../outside/secret.txt', path.join(root, 'dir/l'));
      fs.chmodSync(path.join(root, 'dir'), 0);
    },
    path: 'dir/l',
    expect: { code: 'permission_denied' },
    unprivileged: true,
  },
];

/** Folders one below the other and a file in the last, also where the whole path is too long to be said at once. */
export function makeDeep(top: string, names: readonly string[], fileName: string): void {
  const { O_RDONLY, O_DIRECTORY } = fs.constants;
  let fd = fs.openSync(top, O_RDONLY | O_DIRECTORY);
  for (const name of names) {
    const below = `/proc/self/fd/${fd}/${name}`;
    fs.mkdirSync(below);
    const next = fs.openSync(below, O_RDONLY | O_DIRECTORY);
    fs.closeSync(fd);
    fd = next;
  }
  fs.writeFileSync(`/proc/self/fd/${fd}/${fileName}`, 'inside, far below');
  fs.closeSync(fd);
}

/** Reads a file below `top` however long its path is, as a trusted observer. */
export function readBelow(top: string, name: string | Buffer): Buffer {
  if (Buffer.isBuffer(name)) return fs.readFileSync(bytes(top, [...name]));
  const { O_RDONLY, O_DIRECTORY } = fs.constants;
  let fd = fs.openSync(top, O_RDONLY | O_DIRECTORY);
  const names = name.split('/');
  const last = names.pop();
  for (const step of names) {
    const next = fs.openSync(`/proc/self/fd/${fd}/${step}`, O_RDONLY | O_DIRECTORY);
    fs.closeSync(fd);
    fd = next;
  }
  const content = fs.readFileSync(`/proc/self/fd/${fd}/${last}`);
  fs.closeSync(fd);
  return content;
}

/** Why a row cannot run in this process, or undefined. */
export function skipReason(row: EscapeRow): string | undefined {
  if (row.unprivileged && process.getuid?.() === 0) return 'root may do anything';
  return row.impossible?.();
}

function remove(base: string): void {
  try {
    fs.rmSync(base, { recursive: true });
  } catch {
    // Paths longer than the system takes in one piece, and folders without permissions.
    spawnSync('chmod', ['-R', 'u+rwx', '--', base]);
    spawnSync('rm', ['-rf', '--', base]);
  }
}

function tree(top: string, files: Readonly<Record<string, string>>): void {
  for (const [name, content] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(top, name)), { recursive: true });
    fs.writeFileSync(path.join(top, name), content);
  }
}

function bytes(top: string, name: readonly number[]): Buffer {
  return Buffer.concat([Buffer.from(`${top}/`), Buffer.from(name)]);
}

function run(command: string, ...args: string[]): void {
  const { status, stderr } = spawnSync(command, args);
  if (status !== 0) throw new Error(`${command}: ${stderr}`);
}

/** The name of a socket stays behind when the process that listened on it is gone without closing it. */
function makeSocket(at: string): void {
  const listen = `require('node:net').createServer().listen(${JSON.stringify(at)}, () => process.kill(process.pid, 'SIGKILL'))`;
  spawnSync(process.execPath, ['-e', listen]);
  if (!fs.lstatSync(at).isSocket()) throw new Error('no socket was made');
}

function snapshot(top: string, without: ReadonlySet<string>): string {
  const lines: string[] = [];
  const visit = (at: Buffer): void => {
    // Whatever lies further down than a path can say is made by the layout itself and left alone by the test.
    if (without.has(at.toString()) || at.length > 4000) return;
    const stats = fs.lstatSync(at, { bigint: true });
    const what = stats.isSymbolicLink()
      ? fs.readlinkSync(at, 'latin1')
      : stats.isFile()
        ? fs.readFileSync(at, 'latin1')
        : '';
    const { ino, mode, uid, nlink, size, mtimeNs, ctimeNs } = stats;
    lines.push([at.toString('latin1'), ino, mode, uid, nlink, size, mtimeNs, ctimeNs, what].join(' '));
    if (!stats.isDirectory()) return;
    for (const name of fs.readdirSync(at, 'buffer').sort(Buffer.compare)) {
      visit(Buffer.concat([at, Buffer.from('/'), name]));
    }
  };
  visit(Buffer.from(top));
  return lines.join('\n');
}

function onWindows(): string | undefined {
  return process.platform === 'win32' ? 'Windows has no such names' : undefined;
}

function notLinux(): string | undefined {
  return process.platform === 'linux' ? undefined : 'needs Linux';
}

function notRoot(): string | undefined {
  return process.getuid?.() === 0 ? undefined : 'only root makes devices';
}
