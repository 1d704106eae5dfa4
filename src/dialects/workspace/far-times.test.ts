import fs from 'node:fs';
import { expect, test } from 'vitest';
import { memory, Sandbox } from '../../fence/sandbox.fixture.ts';
import { DEFAULT_CONTEXT } from '../../runtime/operation-context.ts';
import { DEFAULT_RESULT_FORM } from '../../tools/result-form.ts';
import type { CallContext } from '../../tools/tool.ts';
import { listFolder } from './list-folder.ts';
import { statFile } from './stat-file.ts';

/** The second after the last one that a Date can hold. */
const BEYOND = 8_640_000_000_001;

test('a file time outside the range of Date hides neither the file nor its neighbours', async () => {
  using box = new Sandbox('openat2', memory());
  fs.utimesSync(box.file('far'), BEYOND, BEYOND);
  expect(fs.statSync(box.host('far')).mtimeMs).toBe(BEYOND * 1000);
  box.file('near');
  const context = {
    ...DEFAULT_CONTEXT,
    results: DEFAULT_RESULT_FORM,
    resolveRoot: () => ({ root: box.root }),
  } as unknown as CallContext;
  const { entries } = await listFolder.run({ root: 'w', path: '.' }, context);
  const far = { name: 'far', modified_at: '+275760-09-13T00:00:00.000Z' };
  expect(JSON.parse(JSON.stringify(entries))).toMatchObject([far, { name: 'near' }]);
  expect(await statFile.run({ root: 'w', path: 'far' }, context)).toMatchObject(far);
});
