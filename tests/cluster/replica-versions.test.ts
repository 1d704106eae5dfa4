import { expect, test } from 'vitest';
import { cannotRunGluster } from '../support/gluster-volume.ts';
import { noRedis } from '../support/redis.ts';
import { startReplicas } from '../support/replicas.ts';

const reason = cannotRunGluster ?? noRedis;

test.skipIf(reason !== undefined)(
  `what one replica answers is good at the other (${reason ?? 'GlusterFS, two mounts'})`,
  { timeout: 90_000 },
  async () => {
    await using replicas = await startReplicas();
    const [a, b] = replicas.servers as [(typeof replicas.servers)[0], (typeof replicas.servers)[0]];
    const at = { root: 'shared', path: 'd/f' };
    let { version } = await a.ok('write_file', { ...at, content: 'one\n' });
    // Each uses the version of the other at once, before its machine would have looked again.
    for (const [turn, server] of [b, a, b, a, b].entries()) {
      const edit = { ...at, old_text: 'one', new_text: `${turn} one`, if_match: version };
      ({ version } = await server.ok('edit_file', edit));
      expect(await server.fails('edit_file', edit)).toBeDefined();
    }
    await a.ok('write_file', { ...at, content: 'more\n', mode: 'append' });
    await b.ok('write_file', { ...at, content: 'most\n', mode: 'append' });
    await a.ok('move', { source_root: 'shared', source_path: 'd/f', dest_root: 'shared', dest_path: 'd/g' });
    await b.ok('edit_file', { root: 'shared', path: 'd/g', old_text: 'most', new_text: 'last' });
    await a.ok('copy', { source_root: 'shared', source_path: 'd/g', dest_root: 'shared', dest_path: 'd/h' });
    await expect
      .poll(async () => (await b.ok('read_file', { root: 'shared', path: 'd/h' })).content, { timeout: 5_000 })
      .toBe('0 1 2 3 4 one\nmore\nlast\n');
    await b.ok('remove_file', { root: 'shared', path: 'd/h' });
    expect(await a.fails('edit_file', { root: 'shared', path: 'd/h', old_text: 'x', new_text: 'y' })).toBeDefined();
  },
);
