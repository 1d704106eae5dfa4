import { describe, expect, it } from 'vitest';
import { RingfenceError } from '../../errors.ts';
import { parseCallerPath } from '../../fence/index.ts';
import { onEveryBackend, outcome, Sandbox } from '../../fence/sandbox.fixture.ts';
import { insertText, replaceText } from './edit-file.ts';

const FAST = { durable: false };
const FILE = parseCallerPath('note');

async function replaced(content: string | Buffer, oldText: string, newText: string): Promise<string> {
  using box = new Sandbox('procfd');
  box.file('note', content);
  await replaceText(box.root, FILE, { oldText, newText }, FAST);
  return box.text('note');
}

async function inserted(content: string, after: number, text: string, as: 'text' | 'lines' = 'text'): Promise<string> {
  using box = new Sandbox('procfd');
  box.file('note', content);
  await insertText(box.root, FILE, { after, text, as }, FAST);
  return box.text('note');
}

async function failure(work: Promise<unknown>): Promise<RingfenceError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof RingfenceError) return error;
    throw error;
  }
  throw new Error('it worked');
}

describe('replaceText', () => {
  it('replaces one occurrence and keeps every other byte', async () => {
    expect(await replaced('\ufeffa\r\nb\r\nc', 'b', 'B')).toBe('\ufeffa\r\nB\r\nc');
    expect(await replaced('x\0y\tz', 'y', '')).toBe('x\0\tz');
    expect(await replaced('one\ntwo\nthree', 'e\ntwo\nt', '|')).toBe('on|hree');
  });

  it.each(['$&', '$1', '$$', "$'", '$`', '$<x>', '\\n'])('inserts %s in the new text literally', async (text) => {
    expect(await replaced('a b c', 'b', text)).toBe(`a ${text} c`);
  });

  it('counts overlapping occurrences and names their lines once each', async () => {
    const error = await failure(replaced('aaa\n\naa', 'aa', 'b'));
    expect(error.code).toBe('text_not_unique');
    expect(error.details).toEqual({ count: 3, lines: [1, 3] });
  });

  it('names the lines on which occurrences that span lines start', async () => {
    const error = await failure(replaced('x\ny\nx\ny\nx\ny\n', 'x\ny\n', ''));
    expect(error.details).toEqual({ count: 3, lines: [1, 3, 5] });
  });

  it('finds the same occurrences as a naive search in repetitive texts', async () => {
    const { findOccurrences } = await import('./text/find-occurrences.ts');
    for (const haystack of ['abababab', 'aabaabaaab', 'a\na\n\na\n', 'abcabcabx', '\n\n\n\n']) {
      for (let start = 0; start < haystack.length; start += 1) {
        for (let end = start + 1; end <= haystack.length; end += 1) {
          const needle = haystack.slice(start, end);
          const places = [...haystack].flatMap((_, at) => (haystack.startsWith(needle, at) ? [at] : []));
          const lines = [...new Set(places.map((at) => haystack.slice(0, at).split('\n').length))];
          expect(
            findOccurrences(Buffer.from(haystack), Buffer.from(needle)),
            JSON.stringify([haystack, needle]),
          ).toEqual({
            count: places.length,
            first: places[0],
            lines,
          });
        }
      }
    }
  });

  it('counts overlapping occurrences in a run of one letter in linear time', async () => {
    const error = await failure(replaced(Buffer.alloc(4_000_000, 'a'), 'a'.repeat(200_000), ''));
    expect(error.details).toEqual({ count: 3_800_001, lines: [1] });
  });

  it('finds neither an empty text nor a lone surrogate', async () => {
    expect((await failure(replaced('abc', '', 'x'))).code).toBe('text_not_found');
    expect((await failure(replaced('abc', 'B', 'x'))).code).toBe('text_not_found');
    expect((await failure(replaced('a\ufffdc', '\ud800', 'x'))).code).toBe('text_not_found');
  });

  it('refuses a new text with a lone surrogate', async () => {
    expect((await failure(replaced('abc', 'b', '\ud83d'))).code).toBe('invalid_encoding');
  });

  it('returns the line on which the new text starts', async () => {
    using box = new Sandbox('procfd');
    box.file('note', 'a\nb\nc\n');
    const { line, content } = await replaceText(box.root, FILE, { oldText: 'b\n', newText: 'x\ny\n' }, FAST);
    expect(line).toBe(2);
    expect(content.toString()).toBe('a\nx\ny\nc\n');
  });
});

describe('insertText', () => {
  it.each([
    ['a\nb\n', 0, 'x\n', 'x\na\nb\n'],
    ['a\nb\n', 1, 'x\n', 'a\nx\nb\n'],
    ['a\nb\n', 1, 'x', 'a\nxb\n'],
    ['a\nb\n', 2, 'x', 'a\nb\nx'],
    ['a\nb', 2, 'x', 'a\nb\nx'],
    ['a\r\nb', 2, 'x', 'a\r\nb\r\nx'],
    ['a', 1, 'x\n', 'a\nx\n'],
    ['a', 1, '', 'a'],
    ['', 0, 'x', 'x'],
    ['\n', 1, 'x', '\nx'],
    ['\ufeffa\n', 0, 'x\n', '\ufeffx\na\n'],
    ['\ufeff', 0, 'x', '\ufeffx'],
    ['a\rb\n', 1, 'x', 'a\rb\nx'],
  ])('into %j after line %i inserts %j', async (content, after, text, expected) => {
    expect(await inserted(content, after, text)).toBe(expected);
  });

  it.each([
    ['a\nb\n', 1, 'x', 'a\nx\nb\n'],
    ['a\nb\n', 2, 'x', 'a\nb\nx\n'],
    ['a\nb\n', 3, 'x', 'a\nb\nx\n'],
    ['a\nb', 2, 'x', 'a\nb\nx'],
    ['a\nb', 2, 'x\n', 'a\nb\nx\n'],
    ['a\r\nb\r\n', 1, 'x', 'a\r\nx\r\nb\r\n'],
    ['', 0, 'x', 'x\n'],
    ['', 1, 'x', 'x\n'],
  ])('as lines, into %j after line %i inserts %j', async (content, after, text, expected) => {
    expect(await inserted(content, after, text, 'lines')).toBe(expected);
  });

  it.each([
    ['a\nb\n', 3, 2, 'text'],
    ['a\nb', 3, 2, 'text'],
    ['', 1, 0, 'text'],
    ['a\n', -1, 1, 'text'],
    ['a\n', 0.5, 1, 'text'],
    ['a\nb\n', 4, 3, 'lines'],
    ['a\nb', 3, 2, 'lines'],
  ] as const)('of %j refuses line %d beyond %i (%s)', async (content, after, max, as) => {
    const error = await failure(inserted(content, after, 'x', as));
    expect(error.code).toBe('line_out_of_range');
    expect(error.details).toEqual({ line: after, max });
  });
});

onEveryBackend((open) => {
  it('edits only text files inside the root', async () => {
    using box = open();
    box.file('latin', Buffer.from('caf\xe9', 'latin1'));
    box.file('inner', 'a');
    box.folder('folder');
    box.link('../outside/secret', 'out');
    box.link('inner', 'in');
    const edit = (path: string) =>
      outcome(replaceText(box.root, parseCallerPath(path), { oldText: 'a', newText: 'b' }, FAST));
    const insert = (path: string) =>
      outcome(insertText(box.root, parseCallerPath(path), { after: 0, text: 'b', as: 'text' }, FAST));
    for (const [path, code] of [
      ['latin', 'not_text'],
      ['folder', 'is_directory'],
      ['nothing', 'not_found'],
      ['nowhere/nothing', 'not_found'],
      ['out', 'outside_root'],
      ['in', 'ok'],
    ] as const) {
      expect(await edit(path), path).toBe(code);
      expect(await insert(path), path).toBe(code);
    }
    expect(box.text('inner')).toBe('bb');
    expect(box.tree()).toEqual(['folder/', 'in -> inner', 'inner', 'latin', 'out -> ../outside/secret']);
  });
});
