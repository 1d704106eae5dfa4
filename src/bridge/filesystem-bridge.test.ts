import { expect, test } from 'vitest';
import { FileCache, FilesystemBridge, SecurityPolicy } from './index.ts';

test('a file is asked for once and then kept', async () => {
  let asked = 0;
  const bridge = new FilesystemBridge({
    policy: new SecurityPolicy({ remote: true }),
    cache: new FileCache({ maxBytes: 1000 }),
    sample: async () => {
      asked += 1;
      return { content: { type: 'text', text: '{"content":"hello"}' } };
    },
  });
  expect(await bridge.readFile('docs/a.md')).toBe('hello');
  expect(await bridge.readFile('docs/a.md')).toBe('hello');
  expect(asked).toBe(1);
  await expect(bridge.readFile('etc/passwd')).rejects.toThrow(/not in an allowed folder/);
  expect(bridge.storeListing('docs', [{ name: 'a.md', type: 'file' }])).toMatchObject({ count: 1, stored: 1 });
  expect(bridge.receiveFile({ path: 'docs/b', content: 'b', chunk: { index: 1, total: 2 } }).complete).toBe(false);
  expect(bridge.receiveFile({ path: 'docs/b', content: 'a', chunk: { index: 0, total: 2 } }).complete).toBe(true);
});
