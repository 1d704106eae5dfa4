import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { OWN_FOLDER } from '../support/own-folder-layout.ts';
import { startServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';

const SECRET = 'what was there before';
const REF = { type: 'ref/resource', uri: 'ringfence://{root}/{+path}' } as const;

test('resources show nothing of a history: neither in lists, by reading, nor by completing', async () => {
  const folder = tempDir('ringfence-resources-');
  fs.writeFileSync(path.join(folder, 'f.txt'), SECRET);
  fs.mkdirSync(path.join(folder, 'dir'));
  await using rf = await startServer({ roots: [{ name: 'w', path: folder, history: true } as never] });
  await rf.ok('write_file', { root: 'w', path: 'f.txt', content: 'new' });
  const kept = fs.readdirSync(path.join(folder, '.ringfence'), { recursive: true, encoding: 'utf8' });
  const files = kept.filter((name) => fs.statSync(path.join(folder, '.ringfence', name)).isFile());
  expect(files.some((name) => fs.readFileSync(path.join(folder, '.ringfence', name), 'utf8') === SECRET)).toBe(true);
  fs.symlinkSync('.ringfence', path.join(folder, 'to-own'));
  fs.symlinkSync(path.join('.ringfence', files[0] as string), path.join(folder, 'to-secret'));
  fs.symlinkSync('../.ringfence', path.join(folder, 'dir/.ringfence'));

  const { client } = rf;
  expect((await client.listResources()).resources.map(({ name }) => name)).toEqual(['f.txt']);

  const inside = kept.flatMap((name) => [`.ringfence/${name}`, `to-own/${name}`, `dir/.ringfence/${name}`]);
  for (const name of [...OWN_FOLDER, ...inside]) {
    for (const spelt of [name, name.replaceAll('.', '%2e'), name.replaceAll('/', '%2F'), `/${name}`, `x/../${name}`]) {
      const outcome = await client.readResource({ uri: `ringfence://w/${spelt}` }).catch((error: Error) => error);
      expect([spelt, outcome instanceof Error && outcome.message]).toEqual([
        spelt,
        expect.stringMatching(/not found|not allowed/i),
      ]);
    }
  }

  const complete = async (value: string) => {
    const asked = { ref: REF, argument: { name: 'path', value }, context: { arguments: { root: 'w' } } };
    return (await client.complete(asked)).completion.values;
  };
  expect(await complete('')).toEqual(['dir/', 'f.txt', 'to-own', 'to-secret']);
  const folders = kept
    .filter((name) => !files.includes(name))
    .flatMap((name) => [`.ringfence/${name}/`, `to-own/${name}/`]);
  for (const value of [
    '.',
    '.ring',
    '.ringfence',
    '.ringfence/',
    './.ringfence/',
    'to-own/',
    'dir/.',
    'dir/.ringfence/',
    ...folders,
  ]) {
    expect([value, await complete(value)]).toEqual([value, []]);
  }
});
