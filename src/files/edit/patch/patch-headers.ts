import { FileError } from '../../errors.ts';

/** The kinds of lines that name a file above its hunks: `diff …`, `Index: …`, and `--- …` with `+++ …`. */
type FileHeader = 'diff' | 'index' | 'header';

/** Messages for what a patch may not do besides editing one file, the most important first. */
const REFUSED = {
  files: 'the patch names more than one file, and one is patched at a time: send the hunks of each file by themselves',
  rename: 'the patch renames the file, and only content is patched: rename it on its own first',
  copy: 'the patch copies the file, and only content is patched: copy it on its own first',
  deletion: 'the patch deletes the file, and only content is patched: delete it on its own',
} as const;

/** Messages for what a patch without hunks may be. */
const REFUSED_WITHOUT_HUNKS = {
  binary: 'the patch is binary, and only text can be patched: write the file whole instead',
  mode: 'the patch changes only the file mode, and only content is patched',
} as const;

type UnsupportedChange = keyof typeof REFUSED | keyof typeof REFUSED_WITHOUT_HUNKS;

interface PatchLocation {
  /** The number of the hunk that would come next. */
  readonly hunk: number;
  /** The line of the patch, from 1. */
  readonly line: number;
}

/**
 * Collects what the lines outside the hunks say about a patch, git's extended headers included
 * (https://git-scm.com/docs/diff-format).
 */
export class PatchHeaders {
  readonly #found = new Map<UnsupportedChange, PatchLocation>();
  #files = 0;
  #namedBy = new Set<FileHeader>();
  #git = false;
  #before: 'file' | 'nothing' | undefined;
  #headerEnd = 0;

  /** Whether the file existed before the patch; undefined if the patch does not say. */
  get before(): 'file' | 'nothing' | undefined {
    return this.#before;
  }

  /** Records that a hunk was read. */
  noteHunk(): void {
    if (this.#files === 0) this.#files = 1;
    // Any line that names a file after a hunk names another file.
    this.#namedBy = new Set<FileHeader>(['diff', 'index', 'header']);
  }

  /** Records a line outside the hunks; `hunk` is the number that the next hunk will have. */
  note(lines: readonly string[], at: number, hunk: number): void {
    const line = lines[at] ?? '';
    const where = { hunk, line: at + 1 };
    const name = namesFile(lines, at);
    if (name !== undefined) this.#noteName(name, where);
    if (line.startsWith('diff --git ')) this.#git = true;
    else if (/^--- \/dev\/null(?:\s|$)/.test(line)) this.#before = 'nothing';
    else if (name === 'header') this.#before ??= 'file';
    else if (/^\+\+\+ \/dev\/null(?:\s|$)/.test(line)) this.#note('deletion', where);
    else if (/^(?:GIT binary patch|Binary files .* differ)\s*$/.test(line)) this.#note('binary', where);
    else if (this.#git) this.#noteGit(line, where);
    if (name === 'header') this.#headerEnd = at + 2;
  }

  /** Raises `patch_failed`, with the line and the reason, if the patch is not an edit of one file. */
  check(hunks: number): void {
    this.#refuse(REFUSED, hunks);
    if (hunks > 0) return;
    this.#refuse(REFUSED_WITHOUT_HUNKS, hunks);
    const problem = `no hunks found: hunk 1 is missing at line ${this.#headerEnd + 1} of the patch, where "@@ -line,count +line,count @@" is expected`;
    throw new FileError('patch_failed', { problem, hunk: 1 });
  }

  #refuse(problems: Partial<Record<UnsupportedChange, string>>, hunks: number): void {
    for (const [change, problem] of Object.entries(problems) as [UnsupportedChange, string][]) {
      const where = this.#found.get(change);
      if (where === undefined) continue;
      const { hunk, line } = where;
      const place = `line ${line} of the patch`;
      if (hunk > hunks) throw new FileError('patch_failed', { problem: `${problem} (${place})` });
      throw new FileError('patch_failed', { problem: `${problem} (hunk ${hunk}, ${place})`, hunk });
    }
  }

  #note(change: UnsupportedChange, where: PatchLocation): void {
    if (!this.#found.has(change)) this.#found.set(change, where);
  }

  #noteName(name: FileHeader, where: PatchLocation): void {
    if (this.#files === 0 || this.#namedBy.has(name)) {
      this.#files++;
      this.#namedBy.clear();
      if (this.#files > 1) this.#note('files', where);
    }
    this.#namedBy.add(name);
  }

  #noteGit(line: string, where: PatchLocation): void {
    if (/^new file mode \d/.test(line)) this.#before = 'nothing';
    else if (/^deleted file mode \d/.test(line)) this.#note('deletion', where);
    else if (/^(?:old|new) mode \d/.test(line)) this.#note('mode', where);
    else if (/^rename (?:from|to) /.test(line)) this.#note('rename', where);
    else if (/^copy (?:from|to) /.test(line)) this.#note('copy', where);
  }
}

/** Returns how a line names a file, or undefined if it does not. */
export function namesFile(lines: readonly string[], at: number): FileHeader | undefined {
  const line = lines[at] ?? '';
  if (line.startsWith('diff -')) return 'diff';
  if (line.startsWith('Index: ')) return 'index';
  return line.startsWith('--- ') && lines[at + 1]?.startsWith('+++ ') ? 'header' : undefined;
}
