import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseMessage, type RefusedMessage } from './parse-message.ts';

const PADDING = ' '.repeat(2_000);

function refusal(text: string): Pick<RefusedMessage, 'code' | 'id' | 'message'> | undefined {
  try {
    parseMessage(Buffer.from(text));
    return undefined;
  } catch (error) {
    const { code, id, message } = error as RefusedMessage;
    return { code, id, message };
  }
}

const call = (args: unknown) =>
  JSON.stringify({ method: 'tools/call', params: { arguments: args }, jsonrpc: '2.0', id: 7 });
const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;

test('what is JSON is parsed as JSON.parse does, whatever its strings hold', () => {
  const tricky = fc.array(fc.constantFrom('"', '\\', '{', '[', ',', 'id', '":', 'é', '\u{1f600}', 'x'.repeat(70)));
  const value = fc.tuple(fc.jsonValue({ maxDepth: 4 }), tricky, tricky).map(([json, one, two]) => ({
    [two.join('')]: json,
    text: one.join(''),
  }));
  fc.assert(
    fc.property(value, (message) => {
      const text = JSON.stringify(message) + PADDING;
      expect(parseMessage(Buffer.from(text))).toEqual(JSON.parse(text));
    }),
  );
});

test.each([
  ['not JSON', '{"a":'],
  ['JSON with something after it', '{} x'],
  ['a string that does not end', `"${'a'.repeat(3_000)}`],
  ['a string that ends in a backslash', `"${'a'.repeat(3_000)}\\`],
])('%s is refused, also after much white space', (_, text) => {
  expect(refusal(text)).toMatchObject({ code: -32700, id: null });
  expect(refusal(PADDING + text)).toMatchObject({ code: -32700, id: null });
});

test.each([
  ['many values', call(Array.from({ length: 60_001 }, () => 0)), 'more than 60000 values'],
  ['many empty objects', call(Array.from({ length: 60_001 }, () => ({}))), 'more than 60000 values'],
  ['deep nesting', `{"id":7,"x":${nested(600)}}`, 'nested more than 200 levels deep'],
  ['many values outside of a call', `{"id":7,"x":[${'0,'.repeat(2_001)}0]}`, 'more than 2000 values'],
  [
    'many fields',
    call(Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`k${index}`, 0]))),
    'an object of more than 1000 fields',
  ],
  [
    'many params besides the arguments',
    `{"id":7,"method":"tools/call","params":{"x":[${'0,'.repeat(1_001)}0]}}`,
    'too many values besides the arguments',
  ],
  ['a long method', `{"id" : 7,"method":"${'m'.repeat(2_000)}"}`, 'the method is longer than 1000 characters'],
  [
    'a long progress token',
    `{"id":7,"params":{"_meta":{"progressToken":"${'t'.repeat(2_000)}"}}}`,
    'the progress token is longer than 1000 characters',
  ],
])('%s are refused by the id of the request', (_, text, problem) => {
  expect(refusal(text)).toEqual({ code: -32600, id: 7, message: `Invalid request: ${problem}` });
});

test.each([
  ['a long id', `{"id":"${'i'.repeat(2_000)}"}`],
  ['a batch of many', `[${'{},'.repeat(100)}{}${PADDING}]`],
  ['an id of something within', `{"x":{"id":7,"y":${nested(600)}}}`],
])('%s is refused without an id', (_, text) => {
  expect(refusal(text)).toMatchObject({ code: -32600, id: null });
});

test('what a client may well send is taken', () => {
  const entries = Array.from({ length: 10_000 }, (_, index) => ({
    name: `f${index}`,
    type: 'file',
    size: 1,
    mtime: 1,
  }));
  expect(refusal(call({ entries }))).toBeUndefined();
  expect(refusal(call({ content: '{[,"\\'.repeat(1_000_000) }))).toBeUndefined();
  expect(refusal(`\ufeff${call({ content: 'x'.repeat(2_000) })}`)).toBeUndefined();
  expect(refusal(`[${'{"id":1,"method":"ping"},'.repeat(99)}{}]`)).toBeUndefined();
  expect(refusal(`{"id":7,"x":${nested(199)}${PADDING}}`)).toBeUndefined();
  expect(
    refusal(call(Object.fromEntries(entries.slice(0, 1_000).map(({ name }) => [name, [1, 2, 3]])))),
  ).toBeUndefined();
});
