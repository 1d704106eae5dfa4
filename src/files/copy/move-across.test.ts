import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { cannotDropPrivileges, runChild, startChild } from '../../../tests/support/child.ts';
import type { RingfenceError } from '../../errors.ts';
import { BACKEND_NAMES, type BackendName, Dir, heldName } from '../../fence/index.ts';
import { memory, outcome, Sandbox } from '../../fence/sandbox.fixture.ts';
import { DEFAULT_CONTEXT } from '../../runtime/operation-context.ts';
import { sweepLeftovers } from '../sweep/sweep-leftovers.ts';
import { move } from './move.ts';

const sameDevice = fs.statSync(memory()).dev === fs.statSync(os.tmpdir()).dev;

/** Everything that is in a sandbox: names, temporary ones too, modes, and content and times of files. */
function look(box: Sandbox): unknown[] {
  return box.tree().map((entry) => {
    const [name = ''] = entry.split(/\/$| -> /);
    const isFile = name === entry;
    return [entry, box.mode(name), isFile && box.text(name), isFile && fs.statSync(box.host(name)).mtimeMs];
  });
}

/** Two sandboxes on different file systems. Disposing of them makes everything removable again. */
class Pair implements Disposable {
  readonly here: Sandbox;
  readonly there: Sandbox;
  readonly #undo: (() => void)[] = [];

  constructor(backend: BackendName = 'openat2') {
    this.here = new Sandbox(backend);
    this.there = new Sandbox(backend, memory());
    this.here.file('source/d/a/f', 'content');
    this.here.file('source/d/b/g', 'more');
    this.here.file('source/d/last', 'last');
    this.here.link('a/f', 'source/d/link');
    this.here.file('source/f', 'new');
    this.here.link('f', 'source/link');
    this.there.file('f', 'old', 0o640);
    this.there.folder('empty', 0o750);
    this.there.link('f', 'link');
  }

  /** Runs a command now, and another at the end. Returns the reason if the first one cannot be run. */
  change(command: string, ...back: [string, ...string[]]): string | undefined {
    const { status, stderr, error } = spawnSync('sh', ['-c', command], { encoding: 'utf8', cwd: this.here.inside });
    this.#undo.push(() => spawnSync(back[0], back.slice(1), { cwd: this.here.inside }));
    return status === 0 ? undefined : (error?.message ?? stderr.trim());
  }

  /** Moves, and expects that it fails and that both ends are as before. */
  async expectRefused(from: string, to: string, code: string): Promise<void> {
    const before = [look(this.here), look(this.there)];
    const attempt = move(this.here.at(from), this.there.at(to), { intoFolders: false }, DEFAULT_CONTEXT);
    expect.soft(await outcome(attempt), `${from} to ${to}`).toBe(code);
    expect.soft([look(this.here), look(this.there)], `${from} to ${to}`).toEqual(before);
  }

  /** Tries all kinds of sources and destinations. */
  async expectAllRefused(code: string): Promise<void> {
    for (const to of ['new', 'deep/new', 'f', 'link']) await this.expectRefused('source/f', to, code);
    for (const to of ['new', 'f', 'link']) await this.expectRefused('source/link', to, code);
    for (const to of ['new', 'deep/new', 'empty']) await this.expectRefused('source/d', to, code);
  }

  [Symbol.dispose](): void {
    for (const undo of this.#undo.reverse()) undo();
    this.here[Symbol.dispose]();
    this.there[Symbol.dispose]();
  }
}

function skippedWithout(attempt: (pair: Pair) => string | undefined): string | undefined {
  if (sameDevice) return 'there is only one file system here';
  using pair = new Pair();
  return attempt(pair);
}

const readOnly = (pair: Pair) =>
  pair.change('mount --bind source source && mount -o remount,bind,ro source', 'umount', 'source');
const immutable = (name: string) => (pair: Pair) => pair.change(`chattr +i ${name}`, 'chattr', '-i', name);
const noMount = skippedWithout(readOnly);
const noAttributes = skippedWithout(immutable('source/f'));

describe.each(BACKEND_NAMES)('%s: a move to another file system leaves both ends as they were if', (backend) => {
  test.skipIf(noMount)(`the source is read-only${noMount ? ` (not here: ${noMount})` : ''}`, async () => {
    using pair = new Pair(backend);
    readOnly(pair);
    await pair.expectAllRefused('read_only');
  });

  describe.skipIf(noAttributes)(noAttributes ? `not here: ${noAttributes}` : 'with attributes', () => {
    test('the folder of the source is immutable', async () => {
      using pair = new Pair(backend);
      immutable('source')(pair);
      await pair.expectAllRefused('permission_denied');
    });

    test('the source itself is immutable', async () => {
      using pair = new Pair(backend);
      immutable('source/f')(pair);
      for (const to of ['new', 'deep/new', 'f', 'link']) await pair.expectRefused('source/f', to, 'permission_denied');
    });

    test.each(['source/d', 'source/d/last', 'source/d/b', 'source/d/b/g'])('%s is immutable', async (name) => {
      using pair = new Pair(backend);
      immutable(name)(pair);
      for (const to of ['new', 'deep/new', 'empty']) await pair.expectRefused('source/d', to, 'permission_denied');
    });

    test('a file in the source is append-only', async () => {
      using pair = new Pair(backend);
      pair.change('chattr +a source/d/a/f', 'chattr', '-a', 'source/d/a/f');
      await pair.expectRefused('source/d', 'empty', 'permission_denied');
    });
  });

  test.skipIf(noMount)(`something is mounted in the source${noMount ? ` (not here: ${noMount})` : ''}`, async () => {
    using pair = new Pair(backend);
    pair.change('mount -t tmpfs none source/d/b', 'umount', 'source/d/b');
    await pair.expectRefused('source/d', 'empty', 'io_error');
  });

  test.skipIf(sameDevice)('the destination cannot be replaced', async () => {
    using pair = new Pair(backend);
    pair.there.file('full/x');
    await pair.expectRefused('source/d', 'full', 'not_empty');
    await pair.expectRefused('source/d', 'f', 'not_directory');
    await pair.expectRefused('source/f', 'empty', 'is_directory');
  });
});

/** Runs `act` once, as soon as `isTime` says so, in some later turn of the event loop. */
function asSoonAs(isTime: () => boolean, act: () => void): Disposable {
  let timer: NodeJS.Immediate;
  const look = (): void => {
    if (isTime()) act();
    else timer = setImmediate(look);
  };
  timer = setImmediate(look);
  return { [Symbol.dispose]: () => clearImmediate(timer) };
}

describe.skipIf(sameDevice)('a source that changes when its copy is complete', () => {
  test.each(BACKEND_NAMES)('%s: a file that is added is not lost, nor what the copy replaced', async (backend) => {
    using pair = new Pair(backend);
    const { here, there } = pair;
    const before = look(there);
    using _adding = asSoonAs(
      () => there.exists('empty/last'),
      () => here.file('source/d/a/late', 'late'),
    );
    expect(await outcome(move(here.at('source/d'), there.at('empty'), { intoFolders: false }))).toBe(
      'changed_meanwhile',
    );
    expect(here.text('source/d/a/late')).toBe('late');
    expect(look(there)).toEqual(before);
  });

  test('a file that is added to a folder while that is emptied is not lost', async () => {
    using pair = new Pair('procfd');
    const { here, there } = pair;
    const { rmdir } = Dir.prototype;
    let isAdded = false;
    vi.spyOn(Dir.prototype, 'rmdir').mockImplementation(function (this: Dir, name) {
      if (name === 'a' && !isAdded) fs.writeFileSync(`${this.hostPath()}/a/late`, 'late');
      isAdded ||= name === 'a';
      return rmdir.call(this, name);
    });
    onTestFinished(() => void vi.restoreAllMocks());
    expect(await outcome(move(here.at('source/d'), there.at('new')))).toBe('move_incomplete');
    expect(here.text('source/d/a/late')).toBe('late');
    expect(there.text('new/a/f')).toBe('content');
  });

  test('the file that replaces it is not lost, nor what the copy replaced', async () => {
    using pair = new Pair();
    const { here, there } = pair;
    const before = look(there);
    using _replacing = asSoonAs(
      () => there.text('f') === 'new',
      () => {
        here.file('source/newer', 'newer');
        fs.renameSync(here.host('source/newer'), here.host('source/f'));
      },
    );
    expect(await outcome(move(here.at('source/f'), there.at('f')))).toBe('changed_meanwhile');
    expect(here.text('source/f')).toBe('newer');
    expect(look(there)).toEqual(before);
  });

  test('a copy that somebody replaces is not replaced again by what was there before', async () => {
    using pair = new Pair();
    const { here, there } = pair;
    using _replacing = asSoonAs(
      () => there.text('f') === 'new',
      () => {
        here.file('source/f', 'newer');
        there.file('theirs', 'theirs');
        fs.renameSync(there.host('theirs'), there.host('f'));
      },
    );
    expect(await outcome(move(here.at('source/f'), there.at('f')))).toBe('changed_meanwhile');
    expect([here.text('source/f'), there.text('f')]).toEqual(['newer', 'theirs']);
    expect(there.tree()).toEqual(['empty/', 'f', 'link -> f']);
  });

  test.skipIf(noAttributes)(
    'a source that cannot be removed, nor get its name back, is still there, and the error says where',
    async () => {
      using pair = new Pair();
      const { here, there } = pair;
      // So many that checking them takes several turns of the event loop.
      for (let i = 0; i < 2000; i += 1) here.file(`source/d/many/${i}`, '');
      immutable('source/d/last')(pair);
      using _taking = asSoonAs(
        () => !here.exists('source/d'),
        () => here.folder('source/d'),
      );
      const error = await move(here.at('source/d'), there.at('new'), { durable: false }, DEFAULT_CONTEXT).catch(
        (e: RingfenceError) => e,
      );
      expect(error).toMatchObject({
        code: 'move_incomplete',
        path: 'source/d',
        details: {
          destination: 'new',
          destinationRoot: 'workspace',
          left: expect.stringMatching(/^source\/d\.[0-9a-f]{8}$/),
        },
      });
      const { left } = (error as unknown as { details: { left: string } }).details;
      pair.change(`chattr -i ${left}/last`, 'true');
      expect([here.text(`${left}/last`), there.text('new/last')]).toEqual(['last', 'last']);
      expect(fs.readdirSync(here.host(left, 'many'))).toHaveLength(2000);
      expect(fs.readdirSync(there.host('new/many'))).toHaveLength(2000);
    },
  );
});

describe.skipIf(cannotDropPrivileges ?? sameDevice)(
  `as a user without rights (${cannotDropPrivileges ?? 'nobody'})`,
  () => {
    test('a source of which some part may not be removed stays as it is, and so does the destination', async () => {
      using pair = new Pair();
      const { here, there } = pair;
      for (const box of [here, there]) execFileSync('chown', ['-R', '65534:65534', box.inside]);
      fs.chmodSync(here.host('source/d/b'), 0o555);
      here.file('sticky/d/theirs', 'theirs', 0o666);
      fs.chmodSync(here.host('sticky/d'), 0o1777);
      fs.chownSync(here.host('sticky'), 65534, 65534);
      here.file('closed/f', 'closed');
      // What the modes forbid is known without trying, which would change this time.
      const changed = () => fs.statSync(here.host('source/d/a')).mtimeMs;
      const before = [look(here), look(there), changed()];
      const script = `
      const there = Root.open('there', args[0], chooseBackend('openat2'));
      const to = (raw) => ({ root: there, path: path(raw) });
      const attempt = async (a, b) => {
        try { await move(at(a), to(b), { intoFolders: false }, DEFAULT_CONTEXT); return 'ok'; }
        catch (e) { return e.code + ' ' + e.path; }
      };
      answer([
        await attempt('source/d', 'new'), await attempt('source/d', 'empty'),
        await attempt('sticky/d', 'new'), await attempt('sticky/d', 'empty'),
        await attempt('closed/f', 'new'), await attempt('closed/f', 'f'),
      ]);`;
      expect(await runChild(script, { folder: here.inside, args: [there.inside], unprivileged: true })).toEqual([
        'permission_denied source/d/b',
        'permission_denied source/d/b',
        'permission_denied sticky/d',
        'permission_denied sticky/d',
        'permission_denied closed/f',
        'permission_denied closed/f',
      ]);
      expect([look(here), look(there), changed()]).toEqual(before);
    });
  },
);

describe.skipIf(sameDevice)('a process that is killed while it removes the source (needs two file systems)', () => {
  /** Moves `source/d` in a process that changes a file of it and kills itself once the folder has a name that fits. */
  const killWhen = async (pair: Pair, pattern: RegExp): Promise<void> => {
    const script = `
      const fs = await import('node:fs');
      const there = Root.open('there', args[0], chooseBackend('openat2'));
      const yieldTurn = () => {
        const name = fs.readdirSync(folder + '/source').find((each) => new RegExp(args[1]).test(each));
        if (name === undefined) return;
        fs.writeFileSync(folder + '/source/' + name + '/last', 'newer');
        process.kill(process.pid, 'SIGKILL');
      };
      const context = { ...DEFAULT_CONTEXT, scheduler: { yieldTurn } };
      await move(at('source/d'), { root: there, path: path('new') }, {}, context);`;
    const child = startChild(script, { folder: pair.here.inside, args: [pair.there.inside, pattern.source] });
    expect(await once(child, 'close')).toEqual([null, 'SIGKILL']);
    expect(pair.here.exists('source/d')).toBe(false);
  };

  test('loses nothing that was changed since it was copied', async () => {
    using pair = new Pair();
    const { here, there } = pair;
    const long = `${'é'.repeat(100)}`;
    await killWhen(pair, /-held-d$/);
    expect(await sweepLeftovers(here.root, DEFAULT_CONTEXT.signal)).toBe(1);
    expect([here.text('source/d/last'), here.text('source/d/a/f'), there.text('new/last')]).toEqual([
      'newer',
      'content',
      'last',
    ]);
    // The name may be taken by then, or too long to be kept whole.
    fs.renameSync(here.host('source/d'), here.host(nameOfGone(heldName('source'))));
    fs.mkdirSync(here.host(nameOfGone(heldName(long))));
    expect(await sweepLeftovers(here.root, DEFAULT_CONTEXT.signal)).toBe(2);
    const names = fs.readdirSync(here.inside).sort();
    expect(names).toEqual(['source', expect.stringMatching(/^source\.[0-9a-f]{8}$/), long.slice(0, 75)]);
  });

  test('leaves what is removed at the next start, once all of it was compared', async () => {
    using pair = new Pair();
    await killWhen(pair, /^\.ringfence-tmp-(?!.*-held-)/);
    await sweepLeftovers(pair.here.root, DEFAULT_CONTEXT.signal);
    expect(pair.here.tree('source')).toEqual(['f', 'link -> f']);
    expect([pair.there.text('new/last'), pair.there.text('new/a/f')]).toEqual(['last', 'content']);
  });
});

/** Returns a temporary name of this process as one of a process that is gone. */
function nameOfGone(name: string): string {
  return name.replace(`-${process.pid}-`, `-${spawnSync(process.execPath, ['-e', '']).pid}-`);
}
