import { expect, test } from 'vitest';
import { DEFAULT_RESULT_FORM } from '../../tools/result-form.ts';
import { ResultForms } from './result-forms.ts';

const AUTO = { results: 'auto', maxResultChars: undefined } as const;

test('clients that show the model nothing but structured content get text, all others both', () => {
  const forms = new ResultForms(AUTO);
  expect(forms.of('claude-code')).toEqual({ mode: 'text', maxChars: 99_700, maxResultChars: 100_000 });
  expect(forms.of('codex-mcp-client')).toEqual({
    mode: 'text',
    maxChars: 39_700,
    maxResultChars: 40_000,
    countsBytes: true,
  });
  for (const name of ['gemini-cli-mcp-client', 'Claude-Code', 'constructor', '', undefined]) {
    expect(forms.of(name)).toBe(DEFAULT_RESULT_FORM);
  }
});

test('the form of a client is one object, so that what is made for it can be kept by it', () => {
  const forms = new ResultForms(AUTO);
  for (const name of ['claude-code', 'codex-mcp-client', 'x']) expect(forms.of(name)).toBe(forms.of(name));
});

test.each(['both', 'text', 'structured'] as const)('an operator can choose %s for all clients', (results) => {
  const forms = new ResultForms({ results, maxResultChars: 5_000 });
  for (const name of ['claude-code', 'codex-mcp-client', 'other', undefined])
    expect(forms.of(name)).toEqual({ mode: results, maxChars: 4_700, maxResultChars: 5_000 });
});

test('only text has a limit that nobody set', () => {
  const limitOf = (results: 'both' | 'text' | 'structured') =>
    new ResultForms({ results, maxResultChars: undefined }).of('x').maxResultChars;
  expect([limitOf('both'), limitOf('structured'), limitOf('text')]).toEqual([undefined, undefined, 100_000]);
});
