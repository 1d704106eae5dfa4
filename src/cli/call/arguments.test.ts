import { expect, test } from 'vitest';
import { loadContents, missingArguments, splitArguments, toArguments } from './arguments.ts';
import type { Schema } from './schema.ts';

const SCHEMA: Schema = {
  properties: {
    text: { type: 'string' },
    count: { type: 'integer' },
    share: { type: 'number' },
    flag: { type: 'boolean' },
    mode: { type: 'string', enum: ['overwrite', 'append'] },
    names: { type: 'array', items: { type: 'string' } },
    lines: { type: 'array', items: { type: 'integer' } },
    edits: { type: 'array', items: { type: 'object' } },
    time: { type: ['number', 'string'] },
    either: { anyOf: [{ type: 'integer' }, { type: 'boolean' }] },
    object: { type: 'object' },
  },
  required: ['text'],
};
const SOURCES = { file: (path: string) => `content of ${path}`, stdin: async () => '[from stdin]' };

const read = async (...words: string[]) => toArguments(await loadContents(splitArguments(words), SOURCES), SCHEMA);

test.each<[string[], Record<string, unknown>]>([
  [['text=5'], { text: '5' }],
  [['text=a=b'], { text: 'a=b' }],
  [['text='], { text: '' }],
  [['text=a\nb'], { text: 'a\nb' }],
  [['count=-5', 'share=0.5'], { count: -5, share: 0.5 }],
  [['flag=true'], { flag: true }],
  [['flag=false'], { flag: false }],
  [['mode=append'], { mode: 'append' }],
  [['names=a'], { names: ['a'] }],
  [['names=a', 'names=b'], { names: ['a', 'b'] }],
  [['names=["a","b"]'], { names: ['a', 'b'] }],
  [['names=["a"]', 'names=b'], { names: ['a', 'b'] }],
  [['lines=1', 'lines=2'], { lines: [1, 2] }],
  [['edits:=[{"a":1}]'], { edits: [{ a: 1 }] }],
  [['edits={"a":1}', 'edits={"b":2}'], { edits: [{ a: 1 }, { b: 2 }] }],
  [['time=12'], { time: '12' }],
  [['time:=12'], { time: 12 }],
  [['either=3'], { either: 3 }],
  [['either=true'], { either: true }],
  [['object={"a":null}'], { object: { a: null } }],
  [['text=@notes.md'], { text: 'content of notes.md' }],
  [['text=-'], { text: '[from stdin]' }],
  [['names=-'], { names: ['[from stdin]'] }],
  [['text:="@types"'], { text: '@types' }],
])('%j is read as its type says', async (words, args) => {
  expect(await read(...words)).toEqual(args);
});

test.each<[string[], string]>([
  [['word'], 'word: an argument is written key=value'],
  [['=x'], 'an argument is written key=value'],
  [['count=x'], 'count: must be integer, got "x"'],
  [['count='], 'count: must be integer, got ""'],
  [['flag=yes'], 'flag: must be boolean'],
  [['mode=apend'], 'mode: must be one of overwrite, append, got "apend" (did you mean append?)'],
  [['txt=x'], 'unknown argument "txt" (did you mean text?)'],
  [['text=a', 'text=b'], 'text is given twice'],
  [['names:={}'], 'names: must be list of string'],
  [['names=[a'], 'names: is not valid JSON'],
  [['text=-', 'names=-'], 'only one argument can be read from stdin'],
  [['__proto__=x'], 'unknown argument "__proto__"'],
])('%j is refused: %s', async (words, problem) => {
  await expect(read(...words)).rejects.toThrow(problem);
});

test('an open schema takes any key', () => {
  expect(toArguments(splitArguments(['a=1', 'b:=2']), {})).toEqual({ a: '1', b: 2 });
});

test('what is missing is named', () => {
  expect(missingArguments({ count: 1 }, SCHEMA)).toEqual(['text']);
});
