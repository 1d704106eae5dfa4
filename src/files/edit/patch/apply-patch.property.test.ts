import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { isFileError } from '../../errors.ts';
import { applyPatch } from './apply-patch.ts';

const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'ringfence-patch-'));
afterAll(() => fs.rmSync(dir, { recursive: true }));

const env = { PATH: process.env.PATH, LC_ALL: 'C', GIT_CONFIG_GLOBAL: os.devNull, GIT_CONFIG_NOSYSTEM: '1' };

/** Whether GNU patch is installed. */
const gnuPatch = spawnSync('patch', ['--version'], { encoding: 'utf8' }).stdout?.startsWith('GNU patch') === true;

/** Returns git's diff of two texts; empty if they are equal. */
function gitDiff(before: string, after: string, context: number): string {
  fs.writeFileSync(path.join(dir, 'before'), before);
  fs.writeFileSync(path.join(dir, 'after'), after);
  const args = ['diff', '--no-index', '--no-color', '--no-ext-diff', '--text', `-U${context}`, 'before', 'after'];
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: dir, env, encoding: 'utf8' });
  if (status !== 0 && status !== 1) throw new Error(`git diff failed: ${stderr}`);
  return stdout;
}

function apply(original: string, patch: string): string {
  return applyPatch(Buffer.from(original), patch).content.toString('utf8');
}

/** Returns the patched text, or undefined if the patch failed; rethrows any other error. */
function attempt(original: string, patch: string): string | undefined {
  try {
    return apply(original, patch);
  } catch (error) {
    if (isFileError(error, 'patch_failed')) return undefined;
    throw error;
  }
}

const trickyLine = fc.constantFrom(
  'a',
  'b',
  'c',
  '',
  ' ',
  '-- x',
  '++ y',
  '@@ -1 +1 @@',
  '\\ z',
  '-',
  '+',
  'é🌍',
  '\t',
  '-- ',
  'x\ry',
);

function trickyText(ending: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.tuple(fc.array(fc.tuple(trickyLine, ending), { maxLength: 14 }), fc.boolean()).map(([lines, finished]) => {
    const whole = lines.map(([line, end]) => line + end).join('');
    return finished ? whole : whole.replace(/\r?\n$/, '');
  });
}

const lf = trickyText(fc.constant('\n'));
const crlf = trickyText(fc.constant('\r\n'));
const mixed = trickyText(fc.constantFrom('\n', '\r\n'));

interface Edit {
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** Two versions of a file without equal lines, so that every hunk matches at one position only. */
const distinctEdit: fc.Arbitrary<Edit> = fc
  .array(fc.constantFrom('keep', 'keep', 'keep', 'keep', 'change', 'remove', 'insert'), { minLength: 1, maxLength: 40 })
  .filter((fates) => fates.some((fate) => fate !== 'keep'))
  .map((fates) => ({
    before: fates.map((_, index) => `line ${index}`),
    after: fates.flatMap((fate, index) => {
      if (fate === 'remove') return [];
      if (fate === 'insert') return [`line ${index}`, `inserted ${index}`];
      return [fate === 'keep' ? `line ${index}` : `changed ${index}`];
    }),
  }));

function joined(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

describe('a patch written by git', () => {
  it.each([
    ['3 lines of context', 3, fc.oneof(fc.tuple(lf, lf), fc.tuple(crlf, crlf), fc.tuple(mixed, mixed))],
    ['1 line of context', 1, fc.oneof(fc.tuple(lf, lf), fc.tuple(crlf, crlf))],
  ])('turns the old text into the new text, with %s', (_name, context, texts) => {
    fc.assert(
      fc.property(texts, ([before, after]) => {
        const patch = gitDiff(before, after, context);
        if (patch !== '') expect(apply(before, patch)).toBe(after);
      }),
      { numRuns: 150 },
    );
  });

  it('turns the old text into the new text without context lines', () => {
    fc.assert(
      fc.property(fc.oneof(fc.tuple(lf, lf), fc.tuple(crlf, crlf)), ([before, after]) => {
        const patch = gitDiff(before, after, 0);
        if (patch !== '') expect(apply(before, patch)).toBe(after);
      }),
      { numRuns: 150 },
    );
  });

  it('applies at an offset after lines were inserted above', () => {
    // With three lines above every change, no hunk is anchored to the beginning of the file.
    const head = joined(['head 1', 'head 2', 'head 3']);
    fc.assert(
      fc.property(distinctEdit, fc.integer({ min: 1, max: 60 }), ({ before, after }, count) => {
        const added = joined(Array.from({ length: count }, (_, index) => `added ${index}`));
        const patch = gitDiff(head + joined(before), head + joined(after), 3);
        expect(apply(added + head + joined(before), patch)).toBe(added + head + joined(after));
      }),
      { numRuns: 60 },
    );
  });

  it('applies with wrong counts in its headers', () => {
    fc.assert(
      fc.property(distinctEdit, fc.integer({ max: 30, min: 0 }), fc.integer({ max: 30, min: 0 }), (edit, old, now) => {
        const patch = gitDiff(joined(edit.before), joined(edit.after), 3);
        const miscounted = patch.replace(/^@@ -(\d+)\S* \+(\d+)\S* @@/gm, `@@ -$1,${old} +$2,${now} @@`);
        expect(apply(joined(edit.before), miscounted)).toBe(joined(edit.after));
      }),
      { numRuns: 60 },
    );
  });

  it('fails if one of its old lines has changed, and applies if any other line has', () => {
    fc.assert(
      fc.property(distinctEdit, fc.nat(), ({ before, after }, pick) => {
        const patch = gitDiff(joined(before), joined(after), 3);
        const index = pick % before.length;
        const line = before[index] ?? '';
        const tampered = (lines: readonly string[]) => joined(lines.map((each) => (each === line ? 'tampered' : each)));
        const shown = [...patch.matchAll(/^@@ -(\d+)(?:,(\d+))? /gm)].some(([, start, count = '1']) => {
          const first = Number(start) - 1;
          return index >= first && index < first + Number(count);
        });
        expect(attempt(tampered(before), patch)).toBe(shown ? undefined : tampered(after));
      }),
      { numRuns: 100 },
    );
  });
});

/** Returns the file as patched by another tool, or undefined if that fails. */
function applyBy(command: string, args: readonly string[], patch: string, original = 'a\nb\n'): string | undefined {
  const file = path.join(dir, 'f');
  fs.writeFileSync(file, original);
  const { status, error } = spawnSync(command, args, { cwd: dir, env, input: patch });
  if (error) throw error;
  return status === 0 ? fs.readFileSync(file, 'utf8') : undefined;
}

describe('an insertion at the top of a file with content', () => {
  const hunk = '@@ -0,0 +1,2 @@\n+x\n+y\n';
  const gitHeader = 'diff --git a/f b/f\n';

  it.each<[name: string, patch: string, expected?: string]>([
    ['go there if the patch names the file', `${gitHeader}--- a/f\n+++ b/f\n${hunk}`, 'x\ny\na\nb\n'],
    ['are refused if it says that there is none', `${gitHeader}new file mode 100644\n--- /dev/null\n+++ b/f\n${hunk}`],
  ])(`%s, as by git ${gnuPatch ? 'and GNU patch' : '(there is no GNU patch here)'}`, (_name, patch, expected) => {
    expect(attempt('a\nb\n', patch)).toBe(expected);
    expect(applyBy('git', ['apply', '--unidiff-zero', '-'], patch)).toBe(expected);
    if (gnuPatch) expect(applyBy('patch', ['-p1', '--batch', '--silent', '--forward'], patch)).toBe(expected);
  });
});

describe('a patch for another version of a real file', () => {
  const REAL = ['../../../../package.json', '../../../../biome.json', 'parse-patch.ts', 'patch-headers.ts'].map(
    (name) =>
      fs
        .readFileSync(path.join(import.meta.dirname, name), 'utf8')
        .split('\n')
        .slice(0, -1)
        .slice(0, 120),
  );
  const change = fc.record({
    at: fc.nat(),
    kind: fc.constantFrom('remove', 'repeat', 'add', 'section'),
    from: fc.nat(),
  });
  const changes = fc.array(change, { minLength: 1, maxLength: 5 });

  /** Changes lines at some places: also by a copy of other lines, so that context is repeated. */
  function changed(lines: readonly string[], all: readonly { at: number; kind: string; from: number }[]): string[] {
    return all.reduce<string[]>(
      (now, { at, kind, from }, index) => {
        const place = at % (now.length + 1);
        const other = from % (now.length + 1);
        if (kind === 'remove') return now.toSpliced(place, 1);
        if (kind === 'add') return now.toSpliced(place, 0, `added ${index}`);
        return now.toSpliced(place, 0, ...now.slice(other, other + (kind === 'repeat' ? 1 : 12)));
      },
      [...lines],
    );
  }

  it.skipIf(!gnuPatch)(
    'is not applied if both git apply and patch -F0 refuse it, and applied as one of them does',
    () => {
      const seen = { applied: 0, refused: 0 };
      fc.assert(
        fc.property(
          fc.constantFrom(...REAL),
          changes,
          changes,
          fc.constantFrom(0, 1, 2, 3),
          fc.constantFrom(0, 0, 1, -3, 40),
          (lines, one, two, context, off) => {
            const hunks = gitDiff(joined(lines), joined(changed(lines, one)), context).replace(/^.*?(?=^@@)/ms, '');
            if (hunks === '') return;
            const misplaced = hunks.replace(
              /^@@ -(\d+)(\S*) \+(\d+)(\S*) @@.*/gm,
              (_, old, oldCount, now, newCount) =>
                `@@ -${Math.max(Number(old) + off, 1)}${oldCount} +${Math.max(Number(now) + off, 1)}${newCount} @@`,
            );
            const patch = `--- a/f\n+++ b/f\n${misplaced}`;
            const original = joined(changed(lines, two));
            const ours = attempt(original, patch);
            if (ours === undefined) {
              seen.refused++;
              return;
            }
            seen.applied++;
            const theirs = [
              applyBy('git', ['apply', '-'], patch, original),
              applyBy('patch', ['-p1', '-F0', '--batch', '--silent', '--forward', '-r', '-'], patch, original),
            ];
            expect(theirs).toContain(ours);
          },
        ),
        { numRuns: 200 },
      );
      expect(Math.min(seen.applied, seen.refused)).toBeGreaterThan(10);
    },
  );
});

it('a damaged patch applies or raises patch_failed, and nothing else', () => {
  const damage = fc.record({
    at: fc.nat(),
    cut: fc.nat({ max: 4 }),
    put: fc.constantFrom('', '\n', '-', '+', ' ', '@@', '\r', '\\', '9'),
  });
  const patch =
    '--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n@@ -5,3 +5,4 @@\n e\n+E\n f\n g\n\\ No newline at end of file\n';
  fc.assert(
    fc.property(fc.array(damage, { minLength: 1, maxLength: 4 }), (all) => {
      const damaged = all.reduce((text, { at, cut, put }) => {
        const start = at % (text.length + 1);
        return text.slice(0, start) + put + text.slice(start + cut);
      }, patch);
      const result = attempt('a\nb\nc\nd\ne\nf\ng', damaged);
      // No hunk contains line d, so it must remain in the file.
      if (result !== undefined && !/^-d?$/m.test(damaged)) expect(result.split(/\r?\n/)).toContain('d');
    }),
    { numRuns: 2000 },
  );
});
