import { expect, test } from 'vitest';
import { Roots } from '../../tools/roots.ts';
import { anonymousClient, clientName, principalClient, processPeer, sessionPeer } from './peer.ts';

const roots = new Roots([]);

test('a client is named in the log by what its key says, and a session not by all of it', () => {
  const session = sessionPeer(roots, 'digest-of-one').client;
  expect(session?.name).toBe(`session-${session?.key.slice(8, 16)}`);
  expect(principalClient('a:b')).toEqual({ key: 'principal:a:b', kind: 'principal', name: 'a:b' });
  expect(processPeer(roots).client).toMatchObject({ kind: 'process', name: 'stdio' });
  expect(processPeer(roots).client?.key).toBe(processPeer(roots).client?.key);
  const { key, name } = anonymousClient();
  expect([name, clientName(key)]).toEqual([undefined, undefined]);
  expect(anonymousClient().key).not.toBe(key);
  expect(anonymousClient(key).key).toBe(key);
});
