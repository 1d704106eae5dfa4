import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { expect, test } from 'vitest';
import { chooseBackend } from './backend.ts';
import { parseCallerPath } from './caller-path.ts';
import { onEveryBackend, outcome, Sandbox } from './sandbox.fixture.ts';

const openDescriptors = () => fs.readdirSync('/proc/self/fd').length;

onEveryBackend((open) => {
  test('lists every kind of entry by its exact name', () => {
    using box = open();
    box.file('plain', '');
    box.file('é\u{1f600}', '');
    box.file('.ringfence-tmp-x', '');
    box.file('folder/inner', '');
    box.link('plain', 'link');
    execFileSync('mkfifo', [box.host('fifo')]);
    const odd = Buffer.from([0x6f, 0xff]);
    fs.writeFileSync(Buffer.concat([Buffer.from(`${box.inside}/`), odd]), '');
    using dir = box.root.openDir(parseCallerPath('.'));
    const byName = (all?: boolean) =>
      dir
        .list(all)
        .map(({ name, raw, type }) => [name, typeof raw === 'string' ? raw : [...raw], type])
        .sort((a, b) => ((a[0] as string) < (b[0] as string) ? -1 : 1));
    const expected = [
      ['fifo', 'fifo', 'other'],
      ['folder', 'folder', 'directory'],
      ['link', 'link', 'symlink'],
      ['o\ufffd', [...odd], 'file'],
      ['plain', 'plain', 'file'],
      ['é\u{1f600}', 'é\u{1f600}', 'file'],
    ];
    expect(byName()).toEqual(expected);
    expect(byName(true)).toEqual([['.ringfence-tmp-x', '.ringfence-tmp-x', 'file'], ...expected]);
  });

  test('lists a folder that takes several reads', () => {
    using box = open();
    const names = Array.from({ length: 3_000 }, (_, i) => `${'long-'.repeat(20)}${i}`);
    for (const name of names) box.file(name, '');
    using dir = box.root.openDir(parseCallerPath('.'));
    const listed = dir.list().map((entry) => entry.name);
    expect(listed.sort()).toEqual(names.sort());
  });

  test('opens regular files alone for reading, links never', async () => {
    using box = open();
    box.file('plain', 'some content');
    box.file('folder/inner', '');
    box.link('plain', 'link');
    execFileSync('mkfifo', [box.host('fifo')]);
    using dir = box.root.openDir(parseCallerPath('.'));
    const before = openDescriptors();
    {
      using file = dir.openForRead('plain');
      const into = Buffer.alloc(20);
      expect([file.size, file.read(into), into.toString('utf8', 0, 12)]).toEqual([12, 12, 'some content']);
      using same = dir.openFile('plain');
      expect(file.identity()).toBe(same.identity());
    }
    const refused = async (name: string) => outcome((async () => dir.openForRead(name)[Symbol.dispose]())());
    expect(await refused('folder')).toBe('is_directory');
    expect(await refused('fifo')).toBe('special_file');
    expect(await refused('nowhere')).toBe('not_found');
    expect(await refused('link')).toMatch(/link_loop|outside_root/);
    expect(() => dir.openForRead('folder/inner')).toThrow('not a single file name');
    expect(openDescriptors()).toBe(before);
  });

  test('a folder that is opened to be listed lists as any other, again and again', async () => {
    using box = open();
    const names = Array.from({ length: 1_500 }, (_, i) => `${'long-'.repeat(20)}${i}`).sort();
    for (const name of names) box.file(`folder/${name}`, 'x');
    box.link('folder', 'link');
    box.file('file', '');
    using top = box.root.openDir(parseCallerPath('.'));
    const before = openDescriptors();
    {
      using folder = top.openDirForListing('folder');
      const listed = () => folder.list().map(({ name }) => name);
      // One listing is left in the middle.
      for (const some of folder.listBatches()) {
        expect(some.length).toBeGreaterThan(0);
        break;
      }
      expect(listed().sort()).toEqual(names);
      expect(listed().sort()).toEqual(names);
      expect(folder.openForRead(names[0] as string)[Symbol.dispose]()).toBeUndefined();
    }
    {
      using folder = top.openDirForListing('folder');
      expect(
        folder
          .list()
          .map(({ name }) => name)
          .sort(),
      ).toEqual(names);
    }
    const refused = (name: string) => outcome((async () => top.openDirForListing(name)[Symbol.dispose]())());
    for (const name of ['link', 'file'])
      expect(await refused(name)).toBe(await outcome((async () => top.openDir(name))()));
    expect(await refused('nowhere')).toBe('not_found');
    expect(() => top.openDirForListing('folder/x')).toThrow('not a single file name');
    expect(openDescriptors()).toBe(before);
  });

  test('reads small regular files alone in one go, links never', () => {
    using box = open();
    box.file('plain', 'some content');
    box.file('empty', '');
    box.file('folder/inner', 'x');
    box.link('plain', 'link');
    execFileSync('mkfifo', [box.host('fifo')]);
    using dir = box.root.openDir(parseCallerPath('.'));
    const before = openDescriptors();
    const into = Buffer.alloc(20);
    const read = (name: string, limit: number) => {
      const length = dir.readSmallFile(name, into, limit);
      return length === undefined ? undefined : into.toString('utf8', 0, length);
    };
    // Where it is no faster, everything is left to opening.
    const fast = box.root.share().backend === 'openat2';
    expect(read('plain', 12)).toBe(fast ? 'some content' : undefined);
    expect(read('plain', 11)).toBeUndefined();
    expect(dir.readSmallFile('plain', Buffer.alloc(11), 100)).toBeUndefined();
    for (const name of ['empty', 'folder', 'fifo', 'nowhere', 'link']) expect(read(name, 100), name).toBeUndefined();
    if (fast) expect(() => read('folder/inner', 100)).toThrow('not a single file name');
    expect(openDescriptors()).toBe(before);
  });
});

test('a signal in the middle of a read loses no entry', () => {
  using box = new Sandbox(chooseBackend().name);
  // Several blocks of names, so that ext4 gives `.` and `..` first, as other filesystems do.
  for (let i = 0; i < 120; i += 1) box.file(`folder/${'long-'.repeat(12)}${i}`, '');
  const fence = new URL('../../dist/fence/index.js', import.meta.url).href;
  const script = `
    const { Root, parseCallerPath } = await import('${fence}');
    const folder = Root.open('w', process.argv[1]).openDir(parseCallerPath('folder'));
    const counts = new Set();
    for (let i = 0; i < 5_000; i += 1) counts.add(folder.list().length);
    console.log(JSON.stringify([...counts]));`;
  // The profiler sends the thread a signal every few microseconds.
  const profiler = ['--cpu-prof', '--cpu-prof-interval=20', `--cpu-prof-dir=${box.outside}`];
  const args = [...profiler, '--input-type=module', '--eval', script, box.inside];
  expect(execFileSync(process.execPath, args, { encoding: 'utf8', timeout: 60_000 })).toBe('[120]\n');
});

test('a folder that is removed while it is listed is not found', async () => {
  using box = new Sandbox('openat2');
  for (let number = 0; number < 3_000; number += 1) box.file(`gone/${number}-with-a-name-of-some-length`, '');
  using dir = box.root.openDir(parseCallerPath('gone'));
  const parts = dir.listBatches();
  expect(parts.next().done).toBe(false);
  fs.rmSync(box.host('gone'), { recursive: true });
  expect(await outcome(() => Array.from(parts))).toBe('not_found');
});
