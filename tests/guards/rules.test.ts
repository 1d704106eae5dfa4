import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkTree, chooseBackend, type Dir, type GuardRules, Root } from '../../src/fence/index.ts';
import { onEveryBackend, outcome, type Sandbox } from '../../src/fence/sandbox.fixture.ts';
import { copy } from '../../src/files/copy/copy.ts';
import { move } from '../../src/files/copy/move.ts';
import { listFolder } from '../../src/files/list/list-folder.ts';
import { readFile } from '../../src/files/read/read-file.ts';
import { removeFile } from '../../src/files/remove/remove-entry.ts';
import { removeFolder } from '../../src/files/remove/remove-folder.ts';
import { makeFolder } from '../../src/files/write/make-folder.ts';
import { writeFile } from '../../src/files/write/write-file.ts';
import { FairScheduler } from '../../src/runtime/fair-scheduler.ts';
import { DEFAULT_CONTEXT, type OperationContext } from '../../src/runtime/operation-context.ts';

const QUICK = { durable: false };

/** Does something whenever an operation is between two steps. */
class StepScheduler extends FairScheduler {
  readonly #step: () => void;

  constructor(step: () => void) {
    super();
    this.#step = step;
  }

  override yieldTurn(): undefined {
    this.#step();
  }
}

onEveryBackend((make, backend) => {
  /** Runs a test on a sandbox that is opened with rules. */
  const withRules = async (rules: Partial<GuardRules>, work: (box: Sandbox, root: Root) => Promise<void>) => {
    using box = make();
    using root = Root.open('r', box.inside, chooseBackend(backend), { deny: [], protect: [], ...rules });
    await work(box, root);
  };
  const write = (root: Root, name: string) => outcome(writeFile(root, root.parse(name), Buffer.from('x'), QUICK));
  const read = (root: Root, name: string) => outcome(readFile(root, root.parse(name)));
  const ends = (root: Root, from: string, to: string) =>
    [
      { root, path: root.parse(from) },
      { root, path: root.parse(to) },
    ] as const;
  const moved = (root: Root, from: string, to: string) => outcome(move(...ends(root, from, to), QUICK));

  test('neither a link nor a file may take the place of a folder that holds what is protected', () =>
    withRules({ protect: ['**/.git/hooks', '/conf/prod.yaml'] }, async (box, root) => {
      box.link('fake', 'link');
      box.folder('fake/hooks');
      box.file('f');
      for (const [from, to] of [
        ['link', '.git'],
        ['link', 'sub/.git'],
        ['f', 'sub/.git'],
        ['link', 'conf'],
      ] as const)
        expect([to, await moved(root, from, to)]).toEqual([to, 'not_allowed']);
      expect(await write(root, 'sub/.git')).toBe('not_allowed');
      expect(await outcome(makeFolder(root, root.parse('sub/.git')))).toBe('ok');
      expect(await moved(root, 'f', 'other/conf')).toBe('ok');
    }));

  test('a folder may not be moved to where something in it would be denied or protected', () =>
    withRules({ deny: ['/a/key'], protect: ['**/.git/hooks'] }, async (box, root) => {
      box.file('plain/key');
      box.file('repo/hooks/x');
      box.file('free/f');
      expect(await moved(root, 'plain', 'a')).toBe('not_allowed');
      expect(await moved(root, 'repo', '.git')).toBe('not_allowed');
      expect(await moved(root, 'free', 'a')).toBe('ok');
      expect(box.tree()).toEqual(['a/', 'a/f', 'plain/', 'plain/key', 'repo/', 'repo/hooks/', 'repo/hooks/x']);
    }));

  test('nothing is put into a folder that is about to be moved to where it would be protected', () =>
    withRules({ protect: ['**/.git/config', '**/.git/modules/**/hooks'] }, async (box, root) => {
      box.file('plain/HEAD');
      box.file('module/hooks/x');
      const [from, { path }] = ends(root, 'plain', '.git');
      using at = root.locate(from.path, { follow: false });
      using to = root.locate(path, { follow: false });
      const checked = await checkTree(at, { from, to, pause: () => undefined });
      expect(await write(root, 'plain/config')).toBe('not_allowed');
      expect(await write(root, 'plain/index')).toBe('ok');
      expect(await moved(root, 'module', 'plain/modules')).toBe('busy');
      checked[Symbol.dispose]();
      expect(await write(root, 'plain/config')).toBe('ok');
      expect(await moved(root, 'module', 'plain/modules')).toBe('ok');
    }));

  test('nothing is put into a folder that was moved since it was opened', () =>
    withRules({ protect: ['**/.git/config'] }, async (box, root) => {
      box.file('plain/sub/HEAD');
      using at = root.locate(root.parse('plain/config'), { follow: false });
      using below = root.locate(root.parse('plain/sub/config'), { follow: false });
      expect(await moved(root, 'plain', '.git')).toBe('ok');
      const put = async ({ dir, name }: typeof at) => dir.createFile(name)[Symbol.dispose]();
      expect([await outcome(put(at)), await outcome(put(below))]).toEqual(['not_found', 'not_found']);
      expect(box.tree('.git')).toEqual(['sub/', 'sub/HEAD']);
    }));

  test('no method changes a folder that was moved since it was opened', () =>
    withRules({ protect: ['**/.git/config'] }, async (box, root) => {
      box.file('plain/config', 'kept');
      box.file('plain/other', 'new');
      box.folder('plain/folder');
      const changes: ((dir: Dir) => unknown)[] = [
        (dir) => dir.openForUpdate('config')[Symbol.dispose](),
        (dir) => dir.openForAppend('config')[Symbol.dispose](),
        (dir) => dir.unlink('config'),
        (dir) => dir.rename('other', dir, 'config'),
        (dir) => dir.renameNoReplace('other', dir, 'config'),
        (dir) => dir.symlink('other', 'link'),
        (dir) => dir.mkdir('made'),
        (dir) => dir.rmdir('folder'),
        (dir) => dir.chmod('folder', 0o700),
        // False where the system cannot exchange entries.
        (dir) => dir.exchange('other', 'config') || dir.unlink('config'),
      ];
      using dir = root.openDir(root.parse('plain'));
      fs.renameSync(path.join(box.inside, 'plain'), path.join(box.inside, '.git'));
      const outcomes = await Promise.all(changes.map((change) => outcome((async () => change(dir))())));
      expect(outcomes).toEqual(changes.map(() => 'not_found'));
      expect(box.tree('.git')).toEqual(['config', 'folder/', 'other']);
      expect(fs.readFileSync(path.join(box.inside, '.git/config'), 'utf8')).toBe('kept');
    }));

  test('a folder that another process fills while it is moved to where that is protected is moved back', () =>
    withRules({ protect: ['**/.git/config'] }, async (box, root) => {
      box.file('a/plain/HEAD');
      const then = (...steps: (() => void)[]): OperationContext => ({
        ...DEFAULT_CONTEXT,
        scheduler: new StepScheduler(() => steps.shift()?.()),
      });
      const raced = (context: OperationContext) =>
        outcome(move(...ends(root, 'a/plain', '.git'), { ...QUICK, intoFolders: false }, context));
      const put = () => box.file('a/plain/config', 'theirs');
      box.folder('.git');
      expect(await raced(then(put))).toBe('not_allowed');
      expect(box.tree()).toEqual(['.git/', 'a/', 'a/plain/', 'a/plain/HEAD', 'a/plain/config']);

      fs.rmSync(box.host('.git'), { recursive: true });
      fs.rmSync(box.host('a/plain/config'));
      expect(await raced(then(put, () => box.file('a/plain')))).toBe('changed_meanwhile');
      expect(box.tree().filter((name) => name.endsWith('config'))).toEqual([
        expect.stringMatching(/^a\/plain\.[0-9a-f]{8}\/config$/),
      ]);

      fs.rmSync(box.host('a'), { recursive: true });
      box.file('a/plain/HEAD');
      expect(await raced(then(put, () => fs.rmdirSync(box.host('a'))))).toBe('changed_meanwhile');
      expect(box.tree().filter((name) => name.endsWith('config'))).toEqual([
        expect.stringMatching(/^\.git\.[0-9a-f]{8}\/config$/),
      ]);
    }));

  test('a folder is checked once where rules do not depend on where it is', () =>
    withRules({ deny: ['*.pem'], protect: ['**/.git/config'] }, async (box, root) => {
      box.file('plain/HEAD');
      let steps = 0;
      const scheduler = new StepScheduler(() => {
        steps += 1;
      });
      const to = async (name: string) => {
        steps = 0;
        await move(...ends(root, 'plain', name), QUICK, { ...DEFAULT_CONTEXT, scheduler });
        fs.renameSync(box.host(name), box.host('plain'));
        return steps;
      };
      expect([await to('other'), await to('.git'), await to('.GIT')]).toEqual([1, 2, 2]);
    }));

  test('a copy leaves out what would be denied or protected where it goes, and says so', () =>
    withRules({ deny: ['/a/key', '/a/sub/*.pem'], protect: ['**/.git/hooks'] }, async (box, root) => {
      for (const name of ['plain/key', 'plain/f', 'plain/sub/a.pem', 'repo/hooks/x', 'repo/HEAD']) box.file(name);
      const { skipped } = await copy(...ends(root, 'plain', 'a'), QUICK);
      expect(skipped).toEqual(['key', 'sub/a.pem']);
      expect((await copy(...ends(root, 'repo', '.git'), QUICK)).skipped).toEqual(['hooks']);
      expect([box.tree('a'), box.tree('.git')]).toEqual([['f', 'sub/'], ['HEAD']]);
    }));

  test('rules hold for a path as it is written, whatever its links lead to', () =>
    withRules({ deny: ['/alias/key'], protect: ['**/.git/hooks'] }, async (box, root) => {
      for (const name of ['real/key', 'real/f', 'fake/hooks/pre-commit', 'from/hooks/pre-commit']) box.file(name);
      box.link('real', 'alias');
      box.link('../fake', 'sub/.git');
      expect(await read(root, 'alias/key')).toBe('not_found');
      expect(await read(root, 'alias/f')).toBe('ok');
      expect(await write(root, 'alias/key')).toBe('not_allowed');
      expect(await write(root, 'sub/.git/hooks/pre-commit')).toBe('not_allowed');
      expect(await write(root, 'sub/.git/hooks/new')).toBe('not_allowed');
      expect(await outcome(removeFile(root, root.parse('sub/.git/hooks/pre-commit')))).toBe('not_allowed');
      const merged = await copy(...ends(root, 'from', 'sub/.git'), { ...QUICK, intoFolders: false });
      expect(merged.skipped).toEqual(['hooks']);
      expect(box.text('fake/hooks/pre-commit')).toBe('fake/hooks/pre-commit');
    }));

  test('a read-only root refuses every change, whichever operation makes it', () =>
    withRules({ readOnly: true }, async (box, root) => {
      box.file('d/f');
      expect(await write(root, 'new')).toBe('not_allowed');
      expect(await write(root, 'd/f')).toBe('not_allowed');
      expect(await moved(root, 'd', 'e')).toBe('not_allowed');
      expect(await outcome(removeFolder(root, root.parse('d')))).toBe('not_allowed');
      expect(await outcome(makeFolder(root, root.parse('e')))).toBe('not_allowed');
      expect(await read(root, 'd/f')).toBe('ok');
      expect(box.tree()).toEqual(['d/', 'd/f']);
    }));

  test('a negated pattern makes an exception, but not below a folder that is denied', () =>
    withRules({ deny: ['*.key', '!open.key', '/closed', '!/closed/open.key', 'dirs/'] }, async (box, root) => {
      for (const name of ['a.key', 'open.key', 'closed/open.key', 'sub/dirs/f', 'dirs']) box.file(name);
      expect((await listFolder(root, root.parse('.'))).map(({ name }) => name)).toEqual(['dirs', 'open.key', 'sub']);
      expect(await listFolder(root, root.parse('sub'))).toEqual([]);
      expect([await read(root, 'open.key'), await read(root, 'dirs')]).toEqual(['ok', 'ok']);
      for (const name of ['a.key', 'closed/open.key', 'sub/dirs/f'])
        expect([name, await read(root, name)]).toEqual([name, 'not_found']);
    }));

  test('everything but a folder can be denied, and that folder written to', () =>
    withRules({ deny: ['/*', '!/docs'] }, async (box, root) => {
      box.file('f');
      box.folder('docs');
      expect([await write(root, 'f'), await write(root, 'new'), await write(root, 'docs/new/f')]).toEqual([
        'not_allowed',
        'not_allowed',
        'ok',
      ]);
      expect((await listFolder(root, root.parse('.'))).map(({ name }) => name)).toEqual(['docs']);
    }));
});

describe('which rule decided', () => {
  test('is said for any path', () => {
    using root = Root.open('r', fs.realpathSync(path.dirname(new URL(import.meta.url).pathname)), undefined, {
      deny: ['*.pem'],
      protect: ['**/.git/hooks'],
    });
    const rule = (name: string) => root.explain(root.parse(name));
    expect(rule('a/b.pem')).toEqual({ rule: 'deny', pattern: '*.pem' });
    expect(rule('x.pem/inner')).toEqual({ rule: 'deny', pattern: '*.pem' });
    expect(rule('a/.ringfence/x')).toEqual({ rule: 'deny', pattern: '.ringfence' });
    expect(rule('a/.git/hooks/pre-commit')).toEqual({ rule: 'protect', pattern: '**/.git/hooks' });
    expect(rule('a/b')).toBeUndefined();
  });
});
