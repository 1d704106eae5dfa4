import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { afterAll, expect, test } from 'vitest';
import { configFromDirs } from '../../config/config-from-dirs.ts';
import { BACKEND_NAMES, chooseBackend } from '../../fence/index.ts';
import type { Dialect } from '../../tools/dialect.ts';
import { openService } from '../open-service.ts';

const base = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), 'ringfence-service-'));
const folders = ['one', 'two', 'three'].map((name) => path.join(base, name));
for (const folder of folders) fs.mkdirSync(folder);
const config = configFromDirs(folders);
afterAll(() => fs.rmSync(base, { recursive: true, force: true }));

/** The folders of this test that this process holds open. */
function held(): string[] {
  const links = fs.readdirSync('/proc/self/fd').map((fd) => {
    try {
      return fs.readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      // The descriptor by which the folder itself was listed.
      return '';
    }
  });
  return links.filter((link) => link.startsWith(base)).sort();
}

test.runIf(process.platform === 'linux').each(BACKEND_NAMES)(
  '%s: a root that cannot be opened leaves none open',
  (name) => {
    const parts = {
      dialect: { tools: [] } as unknown as Dialect,
      backend: chooseBackend(name),
      logger: pino({ enabled: false }),
    };
    const [one, two, three] = config.roots;
    if (one === undefined || two === undefined || three === undefined) throw new Error('not reached');
    const roots = [one, two, { ...three, path: path.join(base, 'missing'), agent: undefined }];
    expect(() => openService({ config: { ...config, roots }, ...parts })).toThrow(/missing cannot be opened: ENOENT$/);
    expect(held()).toEqual([]);
  },
);

test.runIf(process.platform === 'linux')('closing gives up the roots', async () => {
  const backend = chooseBackend('procfd');
  const service = openService({
    config,
    dialect: { tools: [] } as unknown as Dialect,
    backend,
    logger: pino({ enabled: false }),
  });
  expect(held()).toEqual([...folders].sort());
  await service.close();
  expect(held()).toEqual([]);
});
