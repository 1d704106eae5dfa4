import { describe, expect, test } from 'vitest';
import type { BridgeError } from '../bridge-error.ts';
import type { SampleAnswer } from '../sample.ts';
import { readFileAnswer } from './file-answer.ts';
import { readListingAnswer } from './listing-answer.ts';

const text = (...texts: string[]): SampleAnswer => ({
  content: texts.map((one) => ({ type: 'text', text: one })),
  stopReason: 'endTurn',
});
const json = (value: unknown) => text(JSON.stringify(value));
const use = (name: string, input: unknown): SampleAnswer => ({ content: { type: 'tool_use', id: '1', name, input } });

const question = { path: 'docs/a', encoding: undefined, fallbackEncodings: [], binary: false };
const read = (answer: SampleAnswer, more: Partial<typeof question> = {}) =>
  readFileAnswer(answer, { ...question, ...more });

const call = { path: 'docs/a', content: 'hi' };

describe('readFileAnswer accepts a file', () => {
  test.each<[string, SampleAnswer, object]>([
    ['as JSON', json({ content: 'hi' }), {}],
    [
      'as JSON with all fields',
      json({ ...call, encoding: 'latin1', mtime: 5, size: 2 }),
      { encoding: 'latin1', mtime: 5, size: 2 },
    ],
    ['as JSON with nulls', json({ content: 'hi', encoding: null, mtime: null }), {}],
    ['as JSON with white space around it', text(' \n{"content":"hi"}\n '), {}],
    ['as JSON in a code block', text('```json\n{"content":"hi"}\n```'), {}],
    ['as JSON in a code block without a language', text('```\n{"content": "hi"}```'), {}],
    ['as JSON in a code block with talk around it', text('Here it is:\n\n```json\n{"content":"hi"}\n```\nDone.'), {}],
    ['as a bare string', '{"content":"hi"}', {}],
    ['as plain content', { content: 'hi' }, {}],
    ['as a text block alone', { content: { type: 'text', text: 'hi' } }, {}],
    ['as JSON after talk', text('Here it is.', '{"content":"hi"}'), {}],
    ['as JSON in two blocks', text('{"content":', '"hi"}'), {}],
    ['as text in two blocks', text('h', 'i'), {}],
    ['as a tool_use block', use('guide_cache_file', call), {}],
    ['as a tool_use block of guide_read_file', use('guide_read_file', { ...call, sha256: 'x' }), { sha256: 'x' }],
    [
      'as a tool_use block among others',
      {
        content: [
          { type: 'image' },
          { type: 'text', text: 'ok' },
          { type: 'tool_use', name: 'guide_cache_file', input: call },
        ],
      },
      {},
    ],
    ['as a tool_use block with files', use('guide_cache_file', { files: [call] }), {}],
    ['as a spelled call', json({ name: 'guide_cache_file', arguments: call }), {}],
    ['as a spelled call in other words', json({ tool: 'guide_cache_file', input: call }), {}],
    [
      'as a spelled call with spelled arguments',
      json({ name: 'guide_cache_file', arguments: JSON.stringify(call) }),
      {},
    ],
    ['as a spelled block', json({ type: 'tool_use', name: 'guide_read_file', input: call }), {}],
    ['as a list of spelled calls', json([{ name: 'guide_cache_file', arguments: call }]), {}],
    ['as code', text(`guide_cache_file(${JSON.stringify(call)});`), {}],
  ])('%s', (_, answer, more) => {
    expect(read(answer)).toEqual([{ path: 'docs/a', content: 'hi', ...more }]);
  });

  test('as chunks', () => {
    const chunk = (index: number) => ({ ...call, chunk: { index, total: 2, sha256: null } });
    const answer = { content: [0, 1].map((i) => ({ type: 'tool_use', name: 'guide_read_file', input: chunk(i) })) };
    expect(read(answer)).toEqual([chunk(0), chunk(1)]);
  });

  test('as base64 if bytes were asked for and no encoding is stated', () => {
    expect(read(json({ content: 'aGk=' }), { binary: true })).toEqual([
      { path: 'docs/a', content: 'aGk=', binary: true },
    ]);
    expect(read(text('aGk=\n'), { binary: true })).toEqual([{ path: 'docs/a', content: 'aGk=', binary: true }]);
    expect(read(json({ content: 'hi', encoding: 'utf-8' }), { binary: true })).toEqual([
      { path: 'docs/a', content: 'hi', encoding: 'utf-8' },
    ]);
  });
});

describe('other text is the content itself:', () => {
  test.each([
    'plain',
    ' kept \n',
    '{"name":"package"}',
    '{"content":5}',
    '{"content":"hi","author":"me"}',
    '{"content":"hi","encoding":5}',
    '[{"name":"a","type":"file"}]',
    '{"path":"docs","entries":[]}',
    '[]',
    '{"error":{"code":1}}',
    '{"error":"not_found","status":404}',
    '{"name":"some_tool","arguments":{}}',
    '{"__proto__":"x","content":"hi"}',
    '"hi"',
    'null',
    '{"content":"hi"',
    '```json\n{"content":"hi"}\n```\nand\n```json\n{}\n```',
    '```ts\nconst a = 1;\n```',
    'See guide_cache_file({"path":"x"}) for more',
  ])('%s', (content) => {
    expect(read(text(content))).toEqual([{ path: 'docs/a', content }]);
  });
});

describe('a reported error', () => {
  test.each([
    ['not_found', 'not_found'],
    ['file_not_found', 'not_found'],
    ['ENOENT', 'not_found'],
    ['permission_denied', 'permission_denied'],
    ['EACCES', 'permission_denied'],
    ['is_a_directory', 'is_directory'],
  ])('%s is %s', (error, code) => {
    for (const answer of [
      json({ error }),
      json({ error, message: 'sorry' }),
      text(`\`\`\`json\n{"error":"${error}"}\n\`\`\``),
    ])
      expect(thrown(() => read(answer))).toMatchObject({ code, path: 'docs/a' });
    expect(thrown(() => readListingAnswer(json({ error }), 'docs'))).toMatchObject({ code, path: 'docs' });
  });
});

describe('an unusable answer', () => {
  test.each(['maxTokens', 'max_tokens', 'length'])('was cut off (%s), even if it looks complete', (stopReason) => {
    for (const content of ['{"content":"hi"}', [{ type: 'tool_use', name: 'guide_cache_file', input: call }]]) {
      const error = thrown(() => read({ content, stopReason } as SampleAnswer));
      expect(error).toMatchObject({ code: 'bad_answer', message: expect.stringMatching(/cut off/) });
      expect(error.instruction).toMatch(/chunks/);
    }
    expect(thrown(() => readListingAnswer({ content: '[]', stopReason }, 'docs')).message).toMatch(/cut off/);
  });

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a number', 7],
    ['no content', {}],
    ['no blocks', { content: [] }],
    ['no text', { content: { type: 'image', data: '' } }],
    ['an empty text', text('')],
    ['a call of another tool', use('rm', {})],
    ['a call without content', use('guide_cache_file', { path: 'docs/a' })],
    ['a call without a path', use('guide_cache_file', { content: 'hi' })],
    ['a call with unknown fields', use('guide_cache_file', { ...call, mode: 7 })],
    ['a call with a broken chunk', use('guide_read_file', { ...call, chunk: { index: '0', total: 1 } })],
  ])('%s', (_, answer) => {
    expect(thrown(() => read(answer as SampleAnswer))).toMatchObject({ code: 'bad_answer', errorType: 'validation' });
  });
});

describe('readListingAnswer accepts a listing', () => {
  const entries = [{ name: 'a', type: 'file' }];
  const handed = { path: 'docs', entries };

  test.each<[string, SampleAnswer, string | undefined]>([
    ['as JSON', json(handed), 'docs'],
    ['as JSON without its path', json({ entries }), undefined],
    ['as a bare list', json(entries), undefined],
    ['as an empty list', json([]), undefined],
    ['in a code block', text(`Sure!\n\`\`\`json\n${JSON.stringify(handed)}\n\`\`\``), 'docs'],
    ['as a tool_use block', use('guide_list_directory', handed), 'docs'],
    ['as a spelled call', json({ name: 'guide_list_directory', arguments: handed }), 'docs'],
    ['as code', text(`guide_list_directory(${JSON.stringify(handed)})`), 'docs'],
  ])('%s', (name, answer, path) => {
    expect(readListingAnswer(answer, 'docs')).toEqual({ path, entries: name.includes('empty') ? [] : entries });
  });

  test.each<[string, SampleAnswer]>([
    ['words', text('a.md and b.md')],
    ['a file', json({ content: 'hi' })],
    ['another call', use('guide_cache_file', call)],
    ['entries that are no list', json({ path: 'docs', entries: {} })],
    ['a path that is none', json({ path: 7, entries: [] })],
  ])('not as %s', (_, answer) => {
    expect(thrown(() => readListingAnswer(answer, 'docs'))).toMatchObject({ code: 'bad_answer' });
  });
});

function thrown(run: () => unknown): BridgeError {
  try {
    run();
  } catch (error) {
    return error as BridgeError;
  }
  throw new Error('nothing was thrown');
}
