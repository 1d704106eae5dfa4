import { expect, test } from 'vitest';
import { DEFAULT_RESULT_FORM } from '../../tools/result-form.ts';
import { ResultForms } from './result-forms.ts';

const AUTO = { results: 'auto', maxResultChars: undefined } as const;

test('clients that show the model nothing but structured content get text, all others both', () => {
  const forms = new ResultForms(AUTO);
  const text = { mode: 'text', maxChars: 99_700, maxResultChars: 100_000 };
  expect(forms.of('claude-code')).toEqual(text);
  expect(forms.of('codex-mcp-client')).toEqual(text);
  for (const name of ['gemini-cli-mcp-client', 'Claude-Code', 'constructor', '', undefined]) {
    expect(forms.of(name)).toBe(DEFAULT_RESULT_FORM);
  }
});

test('forms of one mode are one object, so that what is made for one can be kept by it', () => {
  const forms = new ResultForms(AUTO);
  expect(forms.of('claude-code')).toBe(forms.of('codex-mcp-client'));
});

test.each(['both', 'text', 'structured'] as const)('an operator can choose %s for all clients', (results) => {
  const forms = new ResultForms({ results, maxResultChars: 5_000 });
  for (const name of ['claude-code', 'other', undefined])
    expect(forms.of(name)).toEqual({ mode: results, maxChars: 4_700, maxResultChars: 5_000 });
});

test('only text has a limit that nobody set', () => {
  const limitOf = (results: 'both' | 'text' | 'structured') =>
    new ResultForms({ results, maxResultChars: undefined }).of('x').maxResultChars;
  expect([limitOf('both'), limitOf('structured'), limitOf('text')]).toEqual([undefined, undefined, 100_000]);
});
