import fs from 'node:fs';
import { describe, expect, test } from 'vitest';
import { HistoryAgent } from '../support/history-agent.ts';
import { noTerminal, runOnTerminal } from '../support/pty.ts';

const onTerminal = test.skipIf(noTerminal !== undefined);
const why = noTerminal === undefined ? '' : ` (${noTerminal})`;

const LINES = Array.from({ length: 30 }, (_, index) => `line ${index + 1}\n`);
const TWO_HUNKS = LINES.with(2, 'THREE\n').with(24, 'TWENTY-FIVE\n');

/** A folder in which an agent has rewritten two parts of a file, added one file and removed a folder with two. */
async function reviewed(): Promise<HistoryAgent> {
  const agent = new HistoryAgent();
  agent.place('text', LINES.join(''));
  agent.place('gone/a', 'a\n');
  agent.place('gone/b', 'b\n');
  await agent.ok('checkpoint', '@', '--name', 'start');
  await agent.write('text', TWO_HUNKS.join(''));
  await agent.write('added', 'added\n');
  await agent.remove('gone');
  return agent;
}

/** What a review still shows, as `change path`. */
async function left(agent: HistoryAgent, path = '@'): Promise<string[]> {
  const [{ entries }] = await agent.json('review', path);
  return entries.map(({ change, path: at }: Record<string, string>) => `${change} ${at}`);
}

describe('ringfence review', () => {
  test('shows everything since the last checkpoint, deletions first and each by name', async () => {
    using agent = await reviewed();
    const text = await agent.ok('review', '@');
    expect(text).toMatch(
      /^[^\n]*: 5 entries differ since checkpoint start \([^\n]*\)\nremoved gone\/\nremoved gone\/a\nremoved gone\/b\nremoved folder gone\/\ndiff /,
    );
    expect(text).toContain('@@ -1,6 +1,6 @@ hunk 1\n line 1\n line 2\n-line 3\n+THREE\n');
    expect(text).toContain('-line 25\n+TWENTY-FIVE\n');
    expect(await left(agent)).toEqual([
      'removed gone',
      'removed gone/a',
      'removed gone/b',
      'changed text',
      'added added',
    ]);
    expect(await left(agent, '@:gone')).toEqual(['removed gone', 'removed gone/a', 'removed gone/b']);
  });

  test('is accepted as a whole: nothing happens, and the point moves on', async () => {
    using agent = await reviewed();
    expect(await agent.ok('review', '@', '--accept')).toMatch(
      /^accepted 5 differences in [^\n]*: checkpoint checkpoint-1\n$/,
    );
    expect(await left(agent)).toEqual([]);
    expect([agent.text('added'), agent.text('text')]).toEqual(['added\n', TWO_HUNKS.join('')]);
    await agent.write('later', '1');
    expect(await left(agent)).toEqual(['added later']);
    expect(await agent.ok('undo', '--since', 'start', '@', '--yes')).toContain('took back');
    expect([agent.text('text'), agent.text('gone/a')]).toEqual([LINES.join(''), 'a\n']);
  });

  test('is taken back as a whole, and that can be reversed', async () => {
    using agent = await reviewed();
    const refused = await agent.run(['review', '@', '--take-back']);
    expect([refused.code, agent.text('added')]).toEqual([1, 'added\n']);
    await agent.ok('review', '@', '--take-back', '--yes');
    expect([agent.text('text'), agent.text('added'), agent.text('gone/b')]).toEqual([LINES.join(''), undefined, 'b\n']);
    expect(await left(agent)).toEqual([]);
    expect(await agent.ok('review', '@', '--take-back', '--yes')).toBe('nothing to take back\n');
    const [{ id }] = await agent.json('history', '@');
    await agent.ok('undo', id, '@', '--yes');
    expect(agent.text('added')).toBe('added\n');
  });

  test('is decided file by file', async () => {
    using agent = await reviewed();
    await agent.ok('review', '@:added', '--accept');
    await agent.ok('review', '@:gone', '--take-back', '--yes');
    expect([agent.text('gone/a'), agent.text('gone/b')]).toEqual(['a\n', 'b\n']);
    expect(await left(agent)).toEqual(['changed text']);
    await agent.write('added', 'more\n');
    expect(await left(agent)).toEqual(['changed text', 'changed added'].sort());
    await agent.ok('review', '@', '--take-back', '--yes');
    expect([agent.text('added'), agent.text('text')]).toEqual(['added\n', LINES.join('')]);
    expect(await left(agent)).toEqual([]);
  });

  test('takes single hunks back, merged with what changed elsewhere in the file since', async () => {
    using agent = await reviewed();
    agent.place('text', ['by hand\n', ...TWO_HUNKS].join(''));
    const text = await agent.ok('review', '@:text', '--take-back', '--hunk', '2', '--yes');
    expect(text).toContain('-line 25\n+TWENTY-FIVE\n');
    expect(agent.text('text')).toBe(['by hand\n', ...LINES.with(2, 'THREE\n')].join(''));
    const [{ id }] = await agent.json('history', '@');
    await agent.ok('undo', id, '@', '--yes');
    expect(agent.text('text')).toBe(['by hand\n', ...TWO_HUNKS].join(''));
  });

  test('keeps hunks that are accepted, and takes back the others with the file', async () => {
    using agent = await reviewed();
    await agent.ok('review', '@:text', '--accept', '--hunk', '1');
    const [{ entries }] = await agent.json('review', '@:text');
    expect(entries[0].hunks).toMatchObject([{ number: 1, lines: expect.arrayContaining(['+TWENTY-FIVE']) }]);
    await agent.ok('review', '@', '--take-back', '--yes');
    expect([agent.text('text'), agent.text('added')]).toEqual([LINES.with(2, 'THREE\n').join(''), undefined]);
    expect(await left(agent)).toEqual([]);
  });

  test('shows an accepted hunk again once it is changed', async () => {
    using agent = await reviewed();
    await agent.ok('review', '@:text', '--accept', '--hunk', '1', '2');
    expect(await left(agent, '@:text')).toEqual([]);
    await agent.write('text', TWO_HUNKS.with(2, 'three again\n').join(''));
    const [{ entries }] = await agent.json('review', '@:text');
    expect(entries[0].hunks).toMatchObject([{ lines: expect.arrayContaining(['-line 3', '+three again']) }]);
  });

  test('refuses hunks that are not there, and conflicts', async () => {
    using agent = await reviewed();
    const refusal = async (...args: string[]) => {
      const { code, stderr } = await agent.run(['review', ...args, '--yes']);
      return [code, stderr];
    };
    const hunk = async (path: string, number: string) => refusal(path, '--take-back', '--hunk', number);
    expect(await hunk('@:text', '3')).toEqual([1, expect.stringContaining('no hunk "3"')]);
    expect(await hunk('@:added', '1')).toEqual([1, expect.stringContaining('has 0 hunks to decide on')]);
    expect(await hunk('@', '1')).toEqual([2, expect.stringContaining('give the file that it is in, as ROOT:PATH')]);
    agent.place('added', 'by hand\n');
    expect(await refusal('@', '--take-back')).toEqual([
      1,
      expect.stringContaining('conflict: added was changed since'),
    ]);
    expect([agent.text('added'), agent.text('gone/a'), agent.text('text')]).toEqual([
      'by hand\n',
      undefined,
      TWO_HUNKS.join(''),
    ]);
  });

  test('of a folder with many files names every one of them', async () => {
    using agent = new HistoryAgent();
    const names = Array.from({ length: 300 }, (_, index) => `many/file-${index}`);
    for (const name of names) agent.place(name, `${name}\n`);
    await agent.remove('many');
    const text = await agent.ok('review', '@');
    expect(names.filter((name) => !text.includes(`\nremoved ${name}\n`))).toEqual([]);
    await agent.ok('review', '@', '--take-back', '--yes');
    expect(fs.readdirSync(agent.host('many')).length).toBe(300);
  });

  test('without a checkpoint is about the whole history', async () => {
    using agent = new HistoryAgent();
    await agent.write('a', '1');
    expect(await agent.ok('review', '@')).toContain(': 1 entry differs since the history begins\n');
  });
});

describe('on a terminal', () => {
  const FOLDER = 'removed gone/? [';
  const TEXT = 'changed text? [';
  const ADDED = 'added added? [';

  onTerminal(`each file is accepted or taken back, and then the point moves on${why}`, async () => {
    using agent = await reviewed();
    const { code, screen } = await runOnTerminal(
      ['review', agent.folder],
      [
        [FOLDER, '?'],
        [FOLDER, 't'],
        [TEXT, 'a'],
        [ADDED, 't'],
      ],
    );
    expect([code, screen]).toEqual([0, expect.stringContaining('everything is decided: checkpoint checkpoint-1')]);
    expect(screen).toContain('  removed gone/a\n  removed gone/b\n');
    expect(screen).toContain('a: accept, t: take back');
    expect([agent.text('gone/a'), agent.text('text'), agent.text('added')]).toEqual([
      'a\n',
      TWO_HUNKS.join(''),
      undefined,
    ]);
    expect(await left(agent)).toEqual([]);
  });

  onTerminal(`a file is decided hunk by hunk, and what is skipped comes again${why}`, async () => {
    using agent = await reviewed();
    const { code, screen } = await runOnTerminal(
      ['review', agent.folder],
      [
        [FOLDER, 's'],
        [TEXT, 'h'],
        ['hunk 1 of 2? [', 't'],
        ['hunk 2 of 2? [', 'a'],
        [ADDED, 'a'],
      ],
    );
    expect([code, screen]).toEqual([0, expect.stringContaining('1 left for later')]);
    expect(agent.text('text')).toBe(LINES.with(24, 'TWENTY-FIVE\n').join(''));
    expect(await left(agent)).toEqual(['removed gone', 'removed gone/a', 'removed gone/b']);
  });

  onTerminal(`all that is left is decided at once, or left when one stops${why}`, async () => {
    using agent = await reviewed();
    const stopped = await runOnTerminal(
      ['review', agent.folder],
      [
        [FOLDER, 'a'],
        [TEXT, '\u0004'],
      ],
    );
    expect([stopped.code, stopped.screen]).toEqual([0, expect.stringContaining('2 left for later')]);
    expect(await left(agent)).toEqual(['changed text', 'added added']);
    await runOnTerminal(['review', agent.folder], [[TEXT, 'T']]);
    expect([agent.text('text'), agent.text('added')]).toEqual([LINES.join(''), undefined]);
    expect(await left(agent)).toEqual([]);
  });

  onTerminal(`what an agent does meanwhile is not accepted unseen${why}`, async () => {
    using agent = await reviewed();
    let meanwhile: Promise<unknown> | undefined;
    const { screen } = await runOnTerminal(
      ['review', agent.folder],
      [
        [FOLDER, 's'],
        [TEXT, 'a'],
        [ADDED, 'A'],
      ],
      {},
      () => {
        meanwhile ??= agent.write('added', 'unseen\n');
        return meanwhile;
      },
    );
    expect(screen).toContain('1 left for later');
    await agent.ok('review', '@:gone', '--accept');
    expect(await left(agent)).toEqual(['changed added']);
  });
});
