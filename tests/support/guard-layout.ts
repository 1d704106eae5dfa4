import fs from 'node:fs';
import path from 'node:path';
import type { Config } from '../../src/config/config.ts';
import { configFromDirs } from '../../src/config/folders/config-from-dirs.ts';
import { memory } from '../../src/fence/sandbox.fixture.ts';

/** What stands in every denied file. */
export const SECRET = 'TOP-SECRET-CONTENT';
/** What stands in every protected file. */
const HOOK = 'THE-OWNERS-HOOK';

const DENY = ['.env', '*.pem', '/secret', '/only/dirs/'];

const FILES: Readonly<Record<string, string>> = {
  'ok.txt': 'plain text',
  'dir/a.txt': 'plain text',
  'dir/.env': SECRET,
  'dir/deep/key.pem': SECRET,
  '.env': SECRET,
  'secret/key.txt': SECRET,
  'secret/more/key.txt': SECRET,
  'only/dirs/key.txt': SECRET,
  '.ringfence/log': SECRET,
  'dir/.ringfence/log': SECRET,
  '.git/config': HOOK,
  '.git/hooks/pre-commit': HOOK,
  '.git/HEAD': 'plain text',
  'sub/.git/config': HOOK,
  'sub/.git/hooks/pre-push': HOOK,
  'sub/.git/modules/inner/hooks/pre-push': HOOK,
  'sub/code.txt': 'plain text',
  'fake/hooks/pre-commit': 'plain text',
};

const LINKS: Readonly<Record<string, string>> = {
  'to-env': '.env',
  'to-secret': 'secret',
  'dir/to-key': '../secret/key.txt',
  'to-own': '.ringfence/log',
  'to-git': '.git',
  'to-fake': 'fake',
};

/** Paths that do not exist for any client, by their names or by where links lead. */
export const DENIED = [
  '.env',
  'dir/.env',
  'dir/../.env',
  'dir/deep/key.pem',
  'secret',
  'secret/key.txt',
  'secret/more',
  'secret/more/key.txt',
  'only/dirs',
  'only/dirs/key.txt',
  '.ringfence',
  '.ringfence/log',
  'dir/.ringfence/log',
  'to-env',
  'to-secret',
  'to-secret/key.txt',
  'dir/to-key',
  'to-own',
];

/** Paths that nothing may be put at, because they would be denied or protected, or would hide what is. */
export const NOT_TO_BE_MADE = [
  'new/.env',
  'new.pem',
  'secret/new.txt',
  'to-secret/new.txt',
  '.ringfence/new',
  'new/.ringfence',
  '.git/hooks/post-commit',
  'to-git/hooks/post-commit',
  'new/.git/hooks/pre-commit',
  'new/.git/config',
];

/** Paths that may be read, but neither changed nor moved. */
export const PROTECTED = [
  '.git/config',
  '.git/hooks/pre-commit',
  '.git/hooks',
  '.git',
  'sub',
  'sub/.git',
  'sub/.git/modules',
  'to-git/config',
  'to-git/hooks/pre-commit',
];

/** Names and texts that no answer may hold. */
export const HIDDEN = [SECRET, '.env', 'key.pem', 'key.txt', '.ringfence', '"secret"', 'secret/', 'only/dirs'];

/** A folder with denied and protected entries, and another root beside it. Dispose of it to remove both. */
export class GuardLayout implements Disposable {
  /** In memory where there is a folder for that: it is made anew some thousand times. */
  readonly base = fs.mkdtempSync(path.join(fs.realpathSync(memory()), 'ringfence-guards-'));
  readonly #before: string;

  constructor() {
    this.#fill();
    this.#before = this.guarded();
  }

  host(...names: string[]): string {
    return path.join(this.base, 'w', ...names);
  }

  /** The config of a server on the two roots. */
  config(more: object = {}): Config {
    const [w, other] = configFromDirs([this.host(), path.join(this.base, 'other')]).roots;
    return {
      ...configFromDirs([this.host()]),
      durableWrites: false,
      roots: [{ ...w, deny: DENY, ...more }, other] as never,
    };
  }

  /** Removes what calls have made and puts back what they may have removed. */
  reset(): void {
    for (const root of ['w', 'other'].map((name) => path.join(this.base, name))) {
      // The folder itself stays: a server has it open.
      for (const name of fs.readdirSync(root)) fs.rmSync(path.join(root, name), { recursive: true });
    }
    this.#fill();
  }

  /** Every file that holds a secret, wherever it is now, those that are protected, and every entry where none may be made. */
  guarded(): string {
    const secrets = fs
      .readdirSync(this.base, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name))
      .filter((file) => fs.readFileSync(file, 'utf8').includes(SECRET))
      .sort();
    return JSON.stringify([secrets, this.inPlace()]);
  }

  /** What is now where denied and protected files were, and every entry where none may be made. */
  inPlace(): string {
    const files = Object.entries(FILES).filter(([, text]) => text === SECRET || text === HOOK);
    const texts = files.map(([name]) => [name, readIfPresent(this.host(name))]);
    const made = NOT_TO_BE_MADE.filter((name) => fs.existsSync(this.host(name)));
    return JSON.stringify([texts, made]);
  }

  /** Every entry of the root with its content. */
  snapshot(): string {
    const entries = fs.readdirSync(this.host(), { recursive: true, withFileTypes: true });
    const shown = entries.map((entry) => {
      const file = path.join(entry.parentPath, entry.name);
      return `${file} ${entry.isFile() ? fs.readFileSync(file, 'utf8') : ''}`;
    });
    return shown.sort().join('\n');
  }

  /** Whether all that is denied or protected is where it was, and nowhere else. */
  get isIntact(): boolean {
    return this.guarded() === this.#before;
  }

  [Symbol.dispose](): void {
    fs.rmSync(this.base, { recursive: true, force: true });
  }

  #fill(): void {
    fs.mkdirSync(path.join(this.base, 'other'), { recursive: true });
    for (const [name, text] of Object.entries(FILES)) {
      fs.mkdirSync(path.dirname(this.host(name)), { recursive: true });
      fs.writeFileSync(this.host(name), text);
    }
    for (const [name, target] of Object.entries(LINKS)) fs.symlinkSync(target, this.host(name));
  }
}

function readIfPresent(file: string): string | undefined {
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : undefined;
}
