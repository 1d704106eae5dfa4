import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { showsForms } from '../asking/elicitation.ts';
import { digestOf, SessionIds } from './session-id.ts';
import { SigningKeys } from './signing-keys.ts';

const NEW = 'n'.repeat(32);
const OLD = 'o'.repeat(32);
const SCOPE = { principal: 'principal:ci', dialect: 'a' };
const CLIENT = { protocolVersion: '2025-06-18', name: 'Ada Ä😀', capabilities: { sampling: {} } };
const withSecrets = (...secrets: [string, ...string[]]) => new SessionIds(new SigningKeys(secrets));

test('another process with the same secret reads what an id says', () => {
  const id = withSecrets(NEW).issue(SCOPE, CLIENT, 1_000);
  expect(withSecrets(NEW).verify(id, SCOPE)).toEqual({ ...CLIENT, issuedAt: 1_000 });
  expect(id).toMatch(/^[\x21-\x7e]+$/);
  expect(withSecrets(NEW).issue(SCOPE, CLIENT, 1_000)).not.toBe(id);
});

test('a secret is replaced in steps, with no session lost between replicas of one step and of the next', () => {
  const steps: [string, ...string[]][] = [[OLD], [OLD, NEW], [NEW, OLD]];
  for (const [i, secrets] of steps.entries()) {
    for (const others of steps.slice(Math.max(0, i - 1), i + 2)) {
      expect(withSecrets(...others).verify(withSecrets(...secrets).issue(SCOPE, CLIENT), SCOPE)).toBeDefined();
    }
  }
  // The last step: what the old secret has signed has expired by then.
  expect(withSecrets(NEW).verify(withSecrets(NEW, OLD).issue(SCOPE, CLIENT), SCOPE)).toBeDefined();
  expect(withSecrets(NEW).verify(withSecrets(OLD, NEW).issue(SCOPE, CLIENT), SCOPE)).toBeUndefined();
  // A step left out: replicas that are not restarted yet do not know what those after them sign.
  expect(withSecrets(OLD).verify(withSecrets(NEW, OLD).issue(SCOPE, CLIENT), SCOPE)).toBeUndefined();
});

const sign = (signed: string): string => {
  const mac = createHmac('sha256', new SigningKeys([NEW]).for('session id')[0]).update(signed);
  return `${signed}.${mac.digest('base64url')}`;
};

test('capabilities that a later version names in an id are passed over', () => {
  const ids = withSecrets(NEW);
  const [, payload = ''] = ids.issue(SCOPE, CLIENT).split('.');
  const parts = JSON.parse(Buffer.from(payload, 'base64url').toString());
  parts[5].push('telepathy', 'constructor');
  const later = sign(`1.${Buffer.from(JSON.stringify(parts)).toString('base64url')}`);
  expect(ids.verify(later, SCOPE)).toMatchObject(CLIENT);
});

test('an id of a later form is not read as one of this form', () => {
  const ids = withSecrets(NEW);
  const [, payload] = ids.issue(SCOPE, CLIENT).split('.');
  expect(ids.verify(sign(`1.${payload}`), SCOPE)).toBeDefined();
  for (const signed of [`2.${payload}`, `${payload}`, '2.bm90IEpTT04']) {
    expect([signed, ids.verify(sign(signed), SCOPE)]).toEqual([signed, undefined]);
  }
});

test('an id is for one principal at one endpoint', () => {
  const ids = withSecrets(NEW);
  const id = ids.issue(SCOPE, CLIENT);
  for (const other of [{ principal: 'principal:cd' }, { principal: undefined }, { dialect: 'b' }]) {
    expect(ids.verify(id, { ...SCOPE, ...other })).toBeUndefined();
    expect(ids.verify(ids.issue({ ...SCOPE, ...other }, CLIENT), SCOPE)).toBeUndefined();
  }
});

test('ids of a process without a secret are its own', () => {
  const id = new SessionIds().issue(SCOPE, CLIENT);
  expect(new SessionIds().verify(id, SCOPE)).toBeUndefined();
});

test('every change of a character makes an id invalid', () => {
  const ids = withSecrets(NEW);
  const id = ids.issue(SCOPE, CLIENT);
  for (let i = 0; i < id.length; i += 1) {
    for (let bit = 0; bit < 8; bit += 1) {
      const changed = id.slice(0, i) + String.fromCharCode(id.charCodeAt(i) ^ (1 << bit)) + id.slice(i + 1);
      expect([changed, ids.verify(changed, SCOPE)]).toEqual([changed, undefined]);
    }
    expect(ids.verify(id.slice(0, i), SCOPE)).toBeUndefined();
    expect(ids.verify(id.slice(i + 1), SCOPE)).toBeUndefined();
    for (const added of ['.', '=', 'A', ' '])
      expect(ids.verify(id.slice(0, i) + added + id.slice(i), SCOPE)).toBeUndefined();
  }
  for (const added of ['.', '=', '==', 'A', ' ', '\0']) expect(ids.verify(id + added, SCOPE)).toBeUndefined();
});

test('nothing that a client makes up is accepted, or fails otherwise', () => {
  const ids = withSecrets(NEW);
  const part = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.base64String().map((text) => text.replace(/[=+/]/g, '_')),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 5 }), (parts) => {
      for (const id of [parts.join('.'), `1.${parts.join('.')}`]) expect(ids.verify(id, SCOPE)).toBeUndefined();
    }),
  );
  expect(ids.verify('x'.repeat(10_000_000), SCOPE)).toBeUndefined();
});

test('an id is short, whatever a client calls itself, and holds no secret', () => {
  const ids = withSecrets(NEW);
  for (const name of ['x'.repeat(10_000), '\0'.repeat(10_000), '😀'.repeat(10_000), '\ud800'.repeat(100)]) {
    const id = ids.issue(SCOPE, { ...CLIENT, name, protocolVersion: name, capabilities: ALL });
    expect(id.length).toBeLessThan(1024);
    expect(ids.verify(id, SCOPE)).toMatchObject({ capabilities: ALL });
  }
  const [, payload = ''] = ids.issue(SCOPE, CLIENT).split('.');
  expect(Buffer.from(payload, 'base64url').toString()).not.toMatch(/nnn|principal:/);
});

const ALL = { sampling: { tools: {} }, elicitation: { form: {}, url: {} } };

test.each([
  {},
  { sampling: {} },
  { sampling: { tools: {} } },
  { elicitation: {} },
  { elicitation: { form: {} } },
  { elicitation: { url: {} } },
  ALL,
])('what calls depend on is kept of the capabilities %o', (capabilities) => {
  const ids = withSecrets(NEW);
  const declared = { ...capabilities, roots: { listChanged: true }, experimental: { x: { y: 'z'.repeat(5_000) } } };
  const read = ids.verify(ids.issue(SCOPE, { ...CLIENT, capabilities: declared }), SCOPE);
  expect(read?.capabilities).toEqual(capabilities);
  expect(showsForms(read?.capabilities.elicitation)).toBe(showsForms(declared.elicitation));
});

test('the digest of an id is not part of it', () => {
  const id = withSecrets(NEW).issue(SCOPE, CLIENT);
  expect(digestOf(id)).toMatch(/^[\da-f]{32}$/);
  expect(id).not.toContain(digestOf(id));
  expect(digestOf(id)).toBe(digestOf(id));
});
