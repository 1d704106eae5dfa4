import fs from 'node:fs';
import path from 'node:path';
import type { Config } from '../../src/config/config.ts';
import { configFromDirs } from '../../src/config/folders/config-from-dirs.ts';
import { withHistory } from '../../src/config/with-history.ts';
import { memory } from '../../src/fence/sandbox.fixture.ts';
import { SECRET } from './guard-layout.ts';

/** Spellings of the folder that the program keeps for itself, of what is in it, and of links to it. */
export const OWN_FOLDER = [
  '.ringfence',
  '.ringfence/',
  './/.ringfence',
  'dir/../.ringfence',
  '.ringfence/log',
  '.ringfence/log/00000001',
  '.ringfence/kept',
  '.ringfence/kept/00000001/old',
  '.ringfence/new',
  'dir/.ringfence',
  'dir/.ringfence/old',
  'dir/.ringfence/new',
  'new/.ringfence',
  'new/.ringfence/log',
  'to-own',
  'to-own/log',
  'to-own/kept/00000001/old',
  'to-own/new',
  'to-secret',
];

const FILES: Readonly<Record<string, string>> = {
  'ok.txt': 'plain text',
  'dir/a.txt': 'plain text',
  'sub/code.txt': 'plain text',
  'only/a.txt': 'plain text',
  'fake/hooks/pre-commit': 'plain text',
};
const KEPT: Readonly<Record<string, string>> = {
  '.ringfence/kept/00000001/old': SECRET,
  'dir/.ringfence/old': SECRET,
};
const LINKS: Readonly<Record<string, string>> = {
  'to-own': '.ringfence',
  'to-secret': '.ringfence/kept/00000001/old',
  'dir/to-secret': '.ringfence/old',
  'to-fake': 'fake',
};

/** A root with the folder that the program keeps for itself, in use or not, and another root beside it. */
export class OwnFolderLayout implements Disposable {
  readonly #base = fs.mkdtempSync(path.join(fs.realpathSync(memory()), 'ringfence-own-'));
  readonly #hasHistory: boolean;

  constructor(hasHistory: boolean) {
    this.#hasHistory = hasHistory;
    fs.mkdirSync(path.join(this.#base, 'other'));
    fs.mkdirSync(this.#host('.ringfence/log'), { recursive: true, mode: 0o700 });
    for (const [name, content] of Object.entries(KEPT)) this.#write(name, content);
    this.reset();
  }

  config(): Config {
    const config = configFromDirs(['w', 'other'].map((name) => path.join(this.#base, name)));
    return { ...(this.#hasHistory ? withHistory(config) : config), durableWrites: false };
  }

  /** Puts back what calls have changed, except in the program's own folder. */
  reset(): void {
    for (const [root, kept] of [
      ['w', ['.ringfence', 'dir']],
      ['w/dir', ['.ringfence']],
      ['other', ['.ringfence']],
    ] as const) {
      const folder = path.join(this.#base, root);
      for (const name of fs.readdirSync(folder))
        if (!(kept as readonly string[]).includes(name)) fs.rmSync(path.join(folder, name), { recursive: true });
    }
    for (const [name, content] of Object.entries(FILES)) this.#write(name, content);
    for (const [name, target] of Object.entries(LINKS)) fs.symlinkSync(target, this.#host(name));
  }

  /** What is not as it was in such folders, or is elsewhere what is kept in them. Only the program itself writes there. */
  problems(): string[] {
    const entries = this.#entries('');
    const own = entries.filter((name) => /(?:^|\/)\.ringfence$/.test(name));
    const expected = [...(this.#hasHistory ? ['other/.ringfence'] : []), 'w/.ringfence', 'w/dir/.ringfence'];
    const inside = fs.readdirSync(this.#host('.ringfence')).sort().join();
    const changed = Object.keys(KEPT).filter((name) => !this.#isSecret(path.join('w', name)));
    const leaked = entries.filter((name) => !name.includes('.ringfence/') && this.#isSecret(name));
    return [
      ...own.filter((name) => !expected.includes(name)).map((name) => `made: ${name}`),
      ...expected.filter((name) => !own.includes(name)).map((name) => `gone: ${name}`),
      ...(inside === (this.#hasHistory ? '.gitignore,kept,log' : 'kept,log') ? [] : [`inside: ${inside}`]),
      ...(fs.readdirSync(this.#host('dir/.ringfence')).join() === 'old' ? [] : ['made in dir/.ringfence']),
      ...changed.map((name) => `changed: ${name}`),
      ...leaked.map((name) => `leaked: ${name}`),
    ];
  }

  [Symbol.dispose](): void {
    fs.rmSync(this.#base, { recursive: true, force: true });
  }

  #entries(below: string): string[] {
    const found = fs.readdirSync(path.join(this.#base, below), { withFileTypes: true });
    return found.flatMap((entry) => {
      const name = path.join(below, entry.name);
      return entry.isDirectory() ? [name, ...this.#entries(name)] : [name];
    });
  }

  #isSecret(name: string): boolean {
    const host = path.join(this.#base, name);
    const stats = fs.lstatSync(host, { throwIfNoEntry: false });
    return stats?.isFile() === true && fs.readFileSync(host, 'utf8').includes(SECRET);
  }

  #host(name: string): string {
    return path.join(this.#base, 'w', name);
  }

  #write(name: string, content: string): void {
    fs.mkdirSync(path.dirname(this.#host(name)), { recursive: true });
    fs.writeFileSync(this.#host(name), content);
  }
}
