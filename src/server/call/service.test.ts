import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { afterAll, expect, test } from 'vitest';
import { tempDir } from '../../../tests/support/temp-dir.ts';
import { ConfigError } from '../../config/config-error.ts';
import { configFromDirs } from '../../config/folders/config-from-dirs.ts';
import { withHistory } from '../../config/with-history.ts';
import { BACKEND_NAMES, chooseBackend, type Root } from '../../fence/index.ts';
import { DEFAULT_HISTORY, historyOf } from '../../history/index.ts';
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

const parts = { dialect: { tools: [] } as unknown as Dialect, logger: pino({ enabled: false }) };

test('histories are opened and closed with their roots', async () => {
  const service = openService({ config: withHistory(config), ...parts });
  const [one] = service.roots.all();
  expect(historyOf(one?.root as Root)?.options).toEqual(DEFAULT_HISTORY);
  expect(fs.statSync(path.join(folders[0] as string, '.ringfence')).mode & 0o777).toBe(0o700);
  await service.close();
  if (process.platform === 'linux') expect(held()).toEqual([]);
});

test.each([
  ['a file', (at: string) => fs.writeFileSync(at, ''), /root .*: \.ringfence in it is not a folder; move it away/],
  ['a link', (at: string) => fs.symlinkSync('..', at), /root .*: \.ringfence in it is not a folder; move it away/],
  [
    'a folder that others may enter',
    (at: string) => fs.mkdirSync(at, 0o755),
    /the folder \.ringfence in it must belong to the user/,
  ],
])('a root whose history would be %s is refused', (_, build, problem) => {
  const folder = tempDir('ringfence-history-');
  build(path.join(folder, '.ringfence'));
  const open = () => openService({ config: withHistory(configFromDirs([...folders, folder])), ...parts });
  expect(open).toThrow(ConfigError);
  expect(open).toThrow(problem);
  if (process.platform === 'linux') expect(held()).toEqual([]);
});
