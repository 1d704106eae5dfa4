import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { ConfigError } from '../config-error.ts';
import { checkAuth } from './auth-config.ts';

const SECRET = 'hunter2-hunter2-hunter2';
const ENV = {
  CI_TOKEN: SECRET,
  OTHER_TOKEN: 'other-other-other',
  SHORT: 'fifteen-letters',
  EMPTY: '',
  SPACED: `${SECRET} x`,
};
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const ci = { name: 'ci', token_env: 'CI_TOKEN', roots: ['a'] };

function check(...tokens: Parameters<typeof checkAuth>[0]['tokens']) {
  return checkAuth({ tokens }, ['a', 'b'], {
    env: ENV,
    fail: (problem) => {
      throw new ConfigError(problem);
    },
  });
}

test('a token is stored as its hash, given by variable or by hash', () => {
  const given = check(ci, { name: 'ops', sha256: sha256('x').toUpperCase(), roots: ['a', 'b'] });
  expect(given).toEqual({
    tokens: [
      { name: 'ci', sha256: Buffer.from(sha256(SECRET), 'hex'), roots: ['a'] },
      { name: 'ops', sha256: Buffer.from(sha256('x'), 'hex'), roots: ['a', 'b'] },
    ],
  });
});

describe('each mistake is one line that names the key, and never the secret', () => {
  const cases: readonly [string, Parameters<typeof check>, string][] = [
    ['an unknown root', [{ ...ci, roots: ['aa'] }], 'auth.tokens[0].roots[0]: unknown root "aa" (did you mean a?)'],
    ['a name used twice', [ci, { ...ci, token_env: 'OTHER_TOKEN' }], 'auth.tokens[1].name: duplicate token name "ci"'],
    ['a name for a mess in the log', [{ ...ci, name: 'a\nb' }], 'auth.tokens[0].name "a\\nb" cannot name a token'],
    ['both forms', [{ ...ci, sha256: sha256('x') }], 'auth.tokens[0]: has both token_env and sha256'],
    ['neither form', [{ name: 'ci', roots: ['a'] }], 'auth.tokens[0]: has neither token_env nor sha256'],
    ['a variable that is not set', [{ ...ci, token_env: 'MISSING' }], 'environment variable MISSING is not set'],
    ['a variable that is empty', [{ ...ci, token_env: 'EMPTY' }], 'environment variable EMPTY is empty'],
    ['a token that can be guessed', [{ ...ci, token_env: 'SHORT' }], 'a token of fewer than 16 characters'],
    [
      'a tool that there is not',
      [{ ...ci, tools: ['reed_file'] }],
      'auth.tokens[0].tools[0]: unknown tool "reed_file"',
    ],
    ['a token no header can carry', [{ ...ci, token_env: 'SPACED' }], 'only letters, digits and punctuation'],
    [
      'the token in place of its variable',
      [{ ...ci, token_env: SECRET }],
      'must be the name of an environment variable',
    ],
    ['a variable that may be the token', [{ ...ci, token_env: 'hunter2' }], 'the environment variable is not set'],
    ['the token in place of its hash', [{ name: 'x', sha256: SECRET, roots: ['a'] }], 'auth.tokens[0].sha256: must be'],
    ['a hash too short', [{ name: 'x', sha256: sha256('x').slice(1), roots: ['a'] }], 'must be the 64 hex digits'],
    [
      'two tokens alike',
      [ci, { name: 'x', sha256: sha256(SECRET), roots: ['b'] }],
      'auth.tokens[1]: has the same token as auth.tokens[0]',
    ],
  ];
  test.each(cases)('%s', (_, tokens, message) => {
    expect(() => check(...tokens)).toThrow(ConfigError);
    expect(() => check(...tokens)).toThrow(message);
    expect(() => check(...tokens)).not.toThrow('hunter2');
  });
});
