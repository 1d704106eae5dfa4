import { expect, test } from 'vitest';
import { formFor, showsForms, toReply } from './elicitation.ts';

test.each([
  [undefined, false],
  [{}, true],
  [{ form: {} }, true],
  [{ form: {}, url: {} }, true],
  [{ url: {} }, false],
])('a client that declares %j shows forms: %s', (declared, shown) => {
  expect(showsForms(declared)).toBe(shown);
});

test.each([
  [{ action: 'accept' }, 'agreed'],
  [{ action: 'accept', content: {} }, 'agreed'],
  [{ action: 'decline' }, 'declined'],
  [{ action: 'cancel' }, 'dismissed'],
  [{ action: 'ACCEPT' }, 'bad_answer'],
  [{ content: { confirm: true } }, 'bad_answer'],
  [undefined, 'bad_answer'],
  ['accept', 'bad_answer'],
])('%j means %s', (given, reply) => {
  expect(toReply(given)).toBe(reply);
});

test('a form has no fields and no mode', () => {
  const form = { message: 'Sure?', requestedSchema: { type: 'object', properties: {} } };
  expect(formFor({ message: 'Sure?', id: '1', places: [] })).toEqual(form);
});
