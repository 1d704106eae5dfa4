import fs from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { BACKEND_NAMES, type BackendName, chooseBackend, DEFAULT_RULES, Root } from '../../src/fence/index.ts';
import { outcome, Sandbox } from '../../src/fence/sandbox.fixture.ts';
import { copy } from '../../src/files/copy/copy.ts';
import { move } from '../../src/files/copy/move.ts';
import { patchFile, replaceText } from '../../src/files/edit/edit-file.ts';
import { listFolder } from '../../src/files/list/list-folder.ts';
import { statPath } from '../../src/files/list/stat-path.ts';
import { hashFile } from '../../src/files/read/hash-file.ts';
import { readFile } from '../../src/files/read/read-file.ts';
import { removeEntry, removeFile } from '../../src/files/remove/remove-entry.ts';
import { removeFolder } from '../../src/files/remove/remove-folder.ts';
import { makeFolder } from '../../src/files/write/make-folder.ts';
import { writeFile } from '../../src/files/write/write-file.ts';
import { History } from '../../src/history/index.ts';
import { DEFAULT_CONTEXT } from '../../src/runtime/operation-context.ts';
import { glob } from '../../src/search/glob.ts';
import { grep } from '../../src/search/grep.ts';
import { SearchPool } from '../../src/search/pool/search-pool.ts';

const QUICK = { durable: false };
const SECRET = 'what was there before';
const pool = new SearchPool();
afterAll(() => pool.close());

type Operation = (root: Root, name: string) => unknown;
const at = (root: Root, name: string) => ({ root, path: root.parse(name) });
const search = { maxResults: 100, timeoutSeconds: 60 };

/** Everything that reads an entry. */
const READS: Readonly<Record<string, Operation>> = {
  read: (root, name) => readFile(root, root.parse(name)),
  list: (root, name) => listFolder(root, root.parse(name)),
  stat: (root, name) => statPath(root, root.parse(name)),
  hash: (root, name) => hashFile(root, root.parse(name), 'sha256', DEFAULT_CONTEXT),
  copy: (root, name) => copy(at(root, name), at(root, 'copy'), QUICK),
  grep: (root, name) =>
    grep(root, { pattern: '.', path: root.parse(name), caseInsensitive: false, contextLines: 0, ...search }, pool),
  glob: (root, name) => glob(root, { pattern: '**', path: root.parse(name), type: 'all', ...search }, pool),
};

/** Everything that changes an entry, or puts something there. */
const CHANGES: Readonly<Record<string, Operation>> = {
  write: (root, name) => writeFile(root, root.parse(name), Buffer.from('x'), QUICK),
  create: (root, name) => writeFile(root, root.parse(name), Buffer.from('x'), { ...QUICK, mode: 'create_only' }),
  append: (root, name) => writeFile(root, root.parse(name), Buffer.from('x'), { ...QUICK, mode: 'append' }),
  edit: (root, name) => replaceText(root, root.parse(name), { oldText: 'was', newText: 'x' }, QUICK),
  patch: (root, name) => patchFile(root, root.parse(name), '--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n', QUICK),
  'make a folder': (root, name) => makeFolder(root, root.parse(name)),
  'remove a file': (root, name) => removeFile(root, root.parse(name), QUICK),
  'remove a folder': (root, name) => removeFolder(root, root.parse(name), {}),
  remove: (root, name) => removeEntry(root, root.parse(name), QUICK),
  'move away': (root, name) => move(at(root, name), at(root, 'moved'), QUICK),
  'move over': (root, name) => move(at(root, 'f'), at(root, name), { ...QUICK, overwrite: true }),
  'move a folder over': (root, name) => move(at(root, 'd'), at(root, name), { ...QUICK, overwrite: true }),
  'copy over': (root, name) => copy(at(root, 'f'), at(root, name), { ...QUICK, overwrite: true }),
  'copy a folder over': (root, name) => copy(at(root, 'd'), at(root, name), { ...QUICK, overwrite: true }),
};

/** Ways to the history, and to entries with its name that it does not have. */
const WAYS = ['.ringfence', 'to-history', 'sub/.ringfence', './sub/../.ringfence', 'through/.ringfence'];
const BELOW = ['', '/log', '/log/00000001', '/kept', '/kept/00000001', '/.gitignore', '/new', '/new/deep'];

/** A folder with history at its top, or what looks like one, and the same name further down. */
function fill(box: Sandbox): void {
  box.file('f', 'plain');
  box.file('d/f', 'plain');
  box.file('sub/.ringfence/log/00000001', SECRET);
  box.link('.ringfence', 'to-history');
  box.link('.', 'through');
}

/** All that is in folders with the name of the history, except for its log, which grows by attempts that failed. */
function guarded(box: Sandbox): string {
  const entries = fs.readdirSync(box.inside, { recursive: true, withFileTypes: true });
  const shown = entries
    .map((entry) => ({ ...entry, path: `${entry.parentPath}/${entry.name}`, isFile: entry.isFile() }))
    .filter(({ path }) => path.includes('/.ringfence') && !path.startsWith(box.host('.ringfence/log/')))
    .map(({ path, isFile }) => `${path} ${isFile ? fs.readFileSync(path, 'utf8') : ''}`);
  return shown.sort().join('\n');
}

const opened = (box: Sandbox, backend: BackendName) =>
  Root.open('r', box.inside, chooseBackend(backend), DEFAULT_RULES);

describe.each(BACKEND_NAMES)('%s', (backend) => {
  test.each([true, false])('no operation reads or changes a history (history on: %s)', async (isOn) => {
    using box = new Sandbox(backend);
    using root = opened(box, backend);
    fill(box);
    let history: History | undefined;
    if (isOn) {
      history = History.open(root);
      await writeFile(root, root.parse('g'), Buffer.from(SECRET), QUICK);
      await writeFile(root, root.parse('g'), Buffer.from('new'), QUICK);
      history.log.writeMarks();
    } else {
      box.file('.ringfence/log/00000001', SECRET);
      box.file('.ringfence/kept/00000001/x', SECRET);
    }
    const before = guarded(box);
    const tree = box.tree();
    for (const way of WAYS) {
      for (const below of BELOW) {
        const name = way + below;
        // The link itself may be removed, moved or replaced: it is not the history.
        const isLink = name === 'to-history';
        for (const [operation, run] of Object.entries(READS)) {
          const isStat = isLink && operation === 'stat';
          const result = await outcome(() => run(root, name));
          if (!isStat) expect(['not_found', 'not_allowed'], `${operation} ${name}: ${result}`).toContain(result);
        }
        for (const [operation, run] of Object.entries(isLink ? {} : CHANGES)) {
          const result = await outcome(() => run(root, name));
          expect(['not_found', 'not_allowed'], `${operation} ${name}: ${result}`).toContain(result);
        }
        expect(box.tree(), name).toEqual(tree);
      }
    }
    // Not by the folder above it either.
    for (const operation of ['remove a folder', 'remove', 'move away'] as const)
      expect([operation, await outcome(() => CHANGES[operation]?.(root, 'sub'))]).toEqual([operation, 'not_allowed']);
    history?.log.writeMarks();
    expect(guarded(box)).toBe(before);
    history?.[Symbol.dispose]();
  });

  test('no listing, search or copy of what is above shows it', async () => {
    using box = new Sandbox(backend);
    using root = opened(box, backend);
    fill(box);
    using _history = History.open(root);
    await writeFile(root, root.parse('g'), Buffer.from(SECRET), QUICK);
    await writeFile(root, root.parse('g'), Buffer.from('new'), QUICK);
    for (const above of ['.', 'sub', 'through']) {
      const shown = JSON.stringify([
        await listFolder(root, root.parse(above)),
        await READS.grep?.(root, above),
        await READS.glob?.(root, above),
        await glob(root, { regex: 'ringfence|0000', path: root.parse(above), type: 'all', ...search }, pool),
      ]);
      expect(shown).not.toMatch(/\.ringfence|0000000|what was there/);
    }
    await copy(at(root, 'sub'), at(root, 'copied'), QUICK);
    expect(box.tree('copied')).toEqual([]);
  });
});
