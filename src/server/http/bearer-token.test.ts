import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import type { Root } from '../../fence/index.ts';
import { Roots } from '../../tools/roots.ts';
import { Principals } from '../clients/principals.ts';
import { authenticate } from './access-control.ts';

const roots = new Roots(['a', 'b'].map((name) => ({ root: { name } as Root, allowed: new Set() })));
const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
const principals = new Principals(
  {
    tokens: [
      { name: 'first', sha256: sha256('one'), roots: ['a'] },
      { name: 'second', sha256: sha256('two'), roots: ['b', 'a'] },
    ],
  },
  roots,
);

function authenticated(authorization?: string) {
  return authenticate({ headers: { authorization } } as IncomingMessage, principals);
}

test('a token leads to its principal, with that one’s roots in the order of the config', () => {
  expect(authenticated('Bearer one')).toMatchObject({
    client: { key: 'principal:first', kind: 'principal', name: 'first' },
  });
  const second = authenticated('bEaReR  two ');
  expect('roots' in second && second.roots.all().map(({ root }) => root.name)).toEqual(['a', 'b']);
  expect('roots' in second && authenticated('Bearer two')).toBe(second);
});

test.each([undefined, '', 'one', 'Basic one', 'Bearer', 'Bearer ', 'Bearer one two', 'Bearerone'])(
  '%j is no token: the answer asks for one',
  (authorization) => {
    expect(authenticated(authorization)).toMatchObject({
      status: 401,
      headers: { 'www-authenticate': 'Bearer realm="ringfence"' },
    });
  },
);

test.each(['One', 'one1', 'on', 'x'.repeat(10_000)])('a wrong token is called one', (token) => {
  const answer = authenticated(`Bearer ${token}`);
  expect(answer).toMatchObject({
    status: 401,
    headers: { 'www-authenticate': 'Bearer realm="ringfence", error="invalid_token"' },
  });
  expect(JSON.stringify(answer)).not.toContain(token);
});

test('a root that a principal may not use is unknown to it, and the message names only its own', () => {
  const first = principals.byToken('one');
  expect(() => first?.roots.use('b', [])).toThrow(
    expect.objectContaining({ code: 'unknown_root', details: { known: ['a'] } }),
  );
});
