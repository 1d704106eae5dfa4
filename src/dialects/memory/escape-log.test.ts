import { expect, test } from 'vitest';
import { Sandbox } from '../../fence/sandbox.fixture.ts';
import { DEFAULT_CONTEXT } from '../../runtime/operation-context.ts';
import type { CallContext } from '../../tools/tool.ts';
import { memory } from './index.ts';

const ARGUMENTS = {
  view: (path: string) => ({ path }),
  create: (path: string) => ({ path, content: '', encoding: 'utf-8' }),
  str_replace: (path: string) => ({ path, old_str: 'a', new_str: 'b' }),
  insert: (path: string) => ({ path, insert_line: 1, new_str: '' }),
  delete: (path: string) => ({ path }),
  rename: (path: string) => ({ old_path: path, new_path: 'x' }),
};

test.each(Object.entries(ARGUMENTS))('%s logs the resolved path of an escape attempt', async (name, argumentsFor) => {
  using box = new Sandbox('openat2');
  // Only what these tools use of the server.
  const context = {
    ...DEFAULT_CONTEXT,
    durable: false,
    limits: { maxFullReadSize: 1000 },
    boundRoot: () => box.root,
  };
  const tool = memory.tools.find((each) => each.name === name);
  for (const [raw, resolved] of [
    ['notes/../../outside/secret', `${box.outside}/secret`],
    ['..\\outside', box.outside],
    ['/etc/passwd', '/etc/passwd'],
  ] as const) {
    await expect(tool?.run(argumentsFor(raw), context as unknown as CallContext)).rejects.toMatchObject({
      code: 'outside_root',
      path: raw,
      root: 'workspace',
      details: { resolved },
    });
  }
});
