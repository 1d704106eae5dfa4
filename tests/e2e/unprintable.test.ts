import { expect, test } from 'vitest';
import { inWorkspace } from '../support/workspace.ts';

const UNPRINTABLE = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
const NAME = 'a\u009b31m\u007f\u202e\u2028\u001b[2Jb';

inWorkspace({}, (w) => {
  test('characters that a terminal acts on are escaped in errors and in the log', async () => {
    const text = await w.fails('read_file', { path: NAME });
    expect(text).toContain('\\u009b31m\\u007f\\u202e\\u2028');
    expect(text).not.toMatch(UNPRINTABLE);
    expect(await w.fails('read_file', { root: NAME, path: 'x' })).not.toMatch(UNPRINTABLE);
    expect(await w.fails('read_file', { path: 'x', [NAME]: 1 })).not.toMatch(UNPRINTABLE);
    await expect(w.call(NAME)).rejects.toThrow(/unknown tool: a\\u009b/);
    await w.server.waitForLog(({ tool }) => tool === NAME);
    expect(w.server.stderr()).toContain('\\u202e');
    expect(w.server.stderr()).not.toMatch(UNPRINTABLE);
  });

  test('content and structured paths stay exact', async () => {
    w.file('\u202eb', 'x\u009by');
    expect(await w.ok('read_file', { path: '\u202eb' })).toMatchObject({ content: 'x\u009by' });
    expect((await w.ok('glob', { pattern: '*' })).matches).toMatchObject([{ path: '\u202eb' }]);
  });

  test('an error shows only the beginning of a long argument', async () => {
    for (const args of [{ path: 'p'.repeat(100_000) }, { root: 'r'.repeat(100_000), path: 'x' }]) {
      expect((await w.fails('read_file', args)).length).toBeLessThan(2_000);
    }
    w.file('f', 'x');
    const text = await w.fails('remove_file', { path: 'f', if_match: 'v'.repeat(100_000) });
    expect(text.length).toBeLessThan(3_000);
  });
});
