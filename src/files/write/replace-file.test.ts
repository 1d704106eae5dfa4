import fs from 'node:fs';
import { expect, test } from 'vitest';
import { cannotDropPrivileges, runChild } from '../../../tests/support/child.ts';
import { Sandbox } from '../../fence/sandbox.fixture.ts';

test.skipIf(cannotDropPrivileges)(
  `a replaced file that changes owner loses its setuid bit (${cannotDropPrivileges ?? 'as nobody'})`,
  async () => {
    using box = new Sandbox('openat2');
    fs.chownSync(box.inside, 65534, 65534);
    box.file('theirs', 'x', 0o4777);
    box.file('own', 'x');
    fs.chownSync(box.host('own'), 65534, 65534);
    fs.chmodSync(box.host('own'), 0o4755);
    // The new content is empty, because a write would make the kernel clear the bit itself.
    const script = `
      const empty = (name) => writeFile(root, path(name), Buffer.alloc(0), { mode: 'overwrite', durable: false });
      answer([await outcome(empty('theirs')), await outcome(empty('own'))]);`;
    expect(await runChild(script, { folder: box.inside, unprivileged: true })).toEqual(['ok', 'ok']);
    expect(fs.statSync(box.host('theirs')).uid).toBe(65534);
    expect([box.mode('theirs'), box.mode('own')]).toEqual(['777', '4755']);
  },
);
