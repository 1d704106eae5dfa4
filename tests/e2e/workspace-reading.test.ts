import fs from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readFiles } from '../../src/dialects/workspace/read-files.ts';
import { Root } from '../../src/fence/index.ts';
import { DEFAULT_RESULT_FORM } from '../../src/tools/result-form.ts';
import type { CallContext } from '../../src/tools/tool.ts';
import { CONNECTIONS, type Connection } from '../support/connections.ts';
import { startServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';
import { newClient } from '../support/tool-client.ts';
import { inWorkspace, VERSION } from '../support/workspace.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const WAV = Buffer.concat([Buffer.from('RIFF\x24\0\0\0WAVEfmt ', 'latin1'), Buffer.alloc(28)]);

inWorkspace({ connections: CONNECTIONS }, (w) => {
  test('images and audio come as content blocks of their own, known by their content', async () => {
    w.file('picture.txt', PNG);
    w.file('sound', WAV);
    w.file('fake.png', 'no image');
    const picture = await w.call('read_file', { root: 'workspace', path: 'picture.txt' });
    const data = PNG.toString('base64');
    expect(picture.raw.content[0]).toEqual({ type: 'image', mimeType: 'image/png', data });
    expect(picture.raw.content[1]).toMatchObject({
      type: 'text',
      text: expect.stringMatching(/^\[size: .*image\/png/),
    });
    expect(picture.raw.content).toHaveLength(2);
    expect(picture.structured).toEqual({
      content: data,
      encoding: 'base64',
      size: PNG.length,
      truncated: false,
      binary: true,
      version: VERSION,
      mime_type: 'image/png',
    });
    const sound = await w.call('read_file', { root: 'workspace', path: 'sound' });
    expect(sound.raw.content[0]).toMatchObject({ type: 'audio', mimeType: 'audio/wav' });
    const part = await w.call('read_file', { root: 'workspace', path: 'picture.txt', offset_bytes: 0 });
    expect(part.raw.content.map(({ type }: { type: string }) => type)).toEqual(['text']);
    expect((await w.ok('read_file', { path: 'fake.png' })).content).toBe('no image');
  });

  test('the last lines of a file', async () => {
    w.file('log.txt', 'one\ntwo\nthree\n');
    expect(await w.ok('read_file', { path: 'log.txt', offset_lines: -2 })).toEqual({
      content: 'two\nthree\n',
      encoding: 'utf-8',
      size: 14,
      truncated: false,
      lines_total: 3,
      first_line: 2,
      version: VERSION,
    });
    const first = await w.ok('read_file', { path: 'log.txt', offset_lines: -2, limit_lines: 1 });
    expect(first).toMatchObject({ content: 'two\n', truncated: true });
    expect(await w.fails('read_file', { path: 'log.txt', offset_lines: 0 })).toMatch(
      /^offset_lines must be at least 1, or at most -1 /,
    );
  });
});

inWorkspace({}, (w) => {
  test('the last lines of a log of 1 GB are read from its end', async () => {
    const host = w.sparse('huge.log', 1024 ** 3);
    fs.appendFileSync(host, `\n${Array.from({ length: 60 }, (_, index) => `line ${index}`).join('\n')}\n`);
    await w.ok('read_file', { path: 'huge.log', offset_lines: -1 });
    const part = await w.ok('read_file', { path: 'huge.log', offset_lines: -50 });
    expect(part.content.split('\n').slice(0, 2)).toEqual(['line 10', 'line 11']);
    expect(part).toMatchObject({ first_line: -50, truncated: false });
    expect(part).not.toHaveProperty('lines_total');
  });

  test('a text that is not UTF-8 is decoded with the encoding that is asked for', async () => {
    w.file('latin1.txt', Buffer.from('caf\u00e9\nna\u00efve\n', 'latin1'));
    w.file('utf16.txt', Buffer.from('\ufeffcaf\u00e9\nna\u00efve\n', 'utf16le'));
    expect((await w.ok('read_file', { path: 'latin1.txt' })).encoding).toBe('base64');
    for (const [path, encoding] of [
      ['latin1.txt', 'latin1'],
      ['utf16.txt', 'utf-16le'],
    ]) {
      const whole = await w.ok('read_file', { path, encoding });
      expect(whole).toMatchObject({ content: 'caf\u00e9\nna\u00efve\n', encoding });
      const line = await w.ok('read_file', { path, encoding, offset_lines: 2, limit_lines: 1 });
      expect(line).toMatchObject({ content: 'na\u00efve\n', lines_total: 2 });
    }
    w.file('odd.txt', Buffer.from([0x61, 0x81]));
    expect(await w.fails('read_file', { path: 'odd.txt', encoding: 'windows-1252' })).toBe(
      'file cannot be decoded as windows-1252: odd.txt (root: workspace)',
    );
    expect(await w.fails('read_file', { path: 'odd.txt', encoding: 'klingon' })).toMatch(
      /^unknown encoding: klingon; known are utf-8, latin1/,
    );
  });

  test('binary files are written from base64, and anything else is refused', async () => {
    const content = PNG.toString('base64');
    expect(await w.ok('write_file', { path: 'p.png', content, encoding: 'base64' })).toEqual({
      path: 'p.png',
      size: PNG.length,
      mode: 'overwrite',
      version: VERSION,
    });
    expect(w.bytes('p.png')).toEqual(PNG);
    await w.ok('write_file', { path: 'p.png', content: '/wA=', encoding: 'base64', mode: 'append' });
    expect(w.bytes('p.png')).toEqual(Buffer.concat([PNG, Buffer.from([0xff, 0])]));
    for (const wrong of ['no base64!', 'YQ', 'YQ==\n', 'YR==']) {
      expect(await w.fails('write_file', { path: 'new', content: wrong, encoding: 'base64' })).toMatch(
        /^content is not valid base64 .*nothing was written: new \(root: workspace\)$/,
      );
    }
    expect(await w.fails('write_file', { path: 'new', content: '', encoding: 'hex' })).toContain('"base64"');
    expect(w.exists('new')).toBe(false);
    await w.ok('write_file', { path: 'text', content: 'YQ==', encoding: 'utf-8' });
    expect(w.text('text')).toBe('YQ==');
  });

  test('a folder is listed as a tree, and page by page', async () => {
    for (const file of ['src/lib/a.ts', 'src/b.ts', 'README']) w.file(file);
    const { entries, count } = await w.ok('list_folder', { path: '.', depth: 3 });
    expect(entries.map(({ name, type }: { name: string; type: string }) => [name, type])).toEqual([
      ['README', 'file'],
      ['src', 'directory'],
      ['src/b.ts', 'file'],
      ['src/lib', 'directory'],
      ['src/lib/a.ts', 'file'],
    ]);
    expect(count).toBe(5);
    const rest = await w.ok('list_folder', { path: '', offset: 1 });
    expect(rest).toMatchObject({ entries: [{ name: 'src' }], count: 2 });
    const { entries: later } = await w.ok('list_folder', { path: '', depth: 3, offset: 3 });
    expect(later.map(({ name }: { name: string }) => name)).toEqual(['src/lib', 'src/lib/a.ts']);
    expect(await w.fails('list_folder', { path: '', depth: 11 })).toContain('depth must be an integer from 1 to 10');
  });

  test('several files are read in one call, and one that cannot be read does not stop the others', async () => {
    w.file('a.txt', 'aaa');
    w.file('latin1.txt', Buffer.from('\u00e9', 'latin1'));
    w.file('pic', PNG);
    w.file('secret', 'secret', 'outside');
    w.link('../outside/secret', 'link');
    w.folder('folder');
    const paths = ['a.txt', 'none', 'folder', '../x', 'link', 'latin1.txt', 'pic'];
    const { files, next } = await w.ok('read_files', { paths });
    expect(files).toEqual([
      { path: 'a.txt', content: 'aaa', encoding: 'utf-8', size: 3, version: VERSION, truncated: false },
      { path: 'none', error: await w.fails('read_file', { path: 'none' }) },
      { path: 'folder', error: await w.fails('read_file', { path: 'folder' }) },
      { path: '../x', error: await w.fails('read_file', { path: '../x' }) },
      { path: 'link', error: await w.fails('read_file', { path: 'link' }) },
      { path: 'latin1.txt', content: '6Q==', encoding: 'base64', size: 1, version: VERSION, truncated: false },
      { path: 'pic', size: PNG.length, version: VERSION, mime_type: 'image/png' },
    ]);
    expect(next).toBeUndefined();
    const violations = () =>
      w.server.logs().filter(({ tool, msg }) => tool === 'read_files' && msg === 'security violation');
    await expect
      .poll(() => violations().map(({ path, violation }) => [path, violation]))
      .toEqual([
        ['../x', 'outside_root'],
        ['link', 'outside_root'],
      ]);
    const decoded = await w.ok('read_files', { paths: ['latin1.txt'], encoding: 'latin1' });
    expect(decoded.files).toMatchObject([{ content: '\u00e9', encoding: 'latin1' }]);
  });

  test('files are read by pattern within one budget, and next gets the rest', async () => {
    for (let i = 0; i < 30; i += 1) w.file(`src/f${10 + i}.ts`, `content ${i}\n`.repeat(50));
    w.file('src/other.js', 'x');
    const found: { path: string; content: string; truncated: boolean }[] = [];
    let calls = 0;
    for (let next: object | undefined = {}; next !== undefined; calls += 1) {
      const part: { files: typeof found; next?: object } = await w.ok('read_files', {
        pattern: 'src/**/*.ts',
        max_chars: 5000,
        ...next,
      });
      expect(JSON.stringify(part).length).toBeLessThan(5000);
      found.push(...part.files);
      next = part.next;
    }
    expect(calls).toBeGreaterThan(3);
    expect(found.map(({ path }) => path)).toEqual(Array.from({ length: 30 }, (_, i) => `src/f${10 + i}.ts`));
    expect(found.every(({ content, truncated }, i) => !truncated && content === w.text(`src/f${10 + i}.ts`))).toBe(
      true,
    );
    expect(await w.ok('read_files', { pattern: 'src/*.ts', offset: 30 })).toEqual({
      files: [],
      hint: 'no file from offset 30 on',
    });
  });

  test('a pattern without a file says why', async () => {
    w.file('.gitignore', 'gen\n');
    w.file('gen/a.ts', 'x');
    w.file('src/b.ts', 'x');
    const ignored = '; 1 ignored entry skipped, which paths can name';
    expect(await w.ok('read_files', { pattern: 'src/*.none' })).toEqual({
      files: [],
      hint: `no match among 2 entries${ignored}`,
    });
    expect((await w.ok('read_files', { pattern: '*.ts' })).hint).toBe(
      `no match among 1 entry; pattern matches direct children of the root; "**/*.ts" matches at any depth${ignored}`,
    );
    expect(await w.ok('read_files', { pattern: '**/*.ts' })).not.toHaveProperty('hint');
  });

  test('a file that exceeds the budget alone is cut at a line', async () => {
    w.file('small', 'x');
    w.file('long', 'some line\n'.repeat(1000));
    w.sparse('huge', 10 * 1024 ** 3);
    const first = await w.ok('read_files', { paths: ['small', 'long', 'small'], max_chars: 2000 });
    expect(first).toMatchObject({ files: [{ path: 'small' }], next: { offset: 1 } });
    const second = await w.ok('read_files', { paths: ['small', 'long', 'small'], max_chars: 2000, offset: 1 });
    expect(second.files[0]).toMatchObject({ path: 'long', size: 10_000, truncated: true });
    expect(second.files[0].content).toMatch(/^(?:some line\n)+$/);
    expect(second.next).toEqual({ offset: 2 });
    expect((await w.ok('read_files', { paths: ['huge'] })).files[0]).toMatchObject({ truncated: true });
  });

  test.each([
    ['utf-8', 'größer als null\n'.repeat(1000)],
    ['base64', Buffer.alloc(10_000, 0xff)],
    ['utf-16le', Buffer.from(`\ufeff${'größer als null\n'.repeat(1000)}`, 'utf16le')],
  ])('a file that is cut names the arguments with which read_file goes on: %s', async (encoding, content) => {
    w.file('long', content);
    const named = encoding === 'utf-16le' ? { encoding } : {};
    const { files } = await w.ok('read_files', { paths: ['long'], max_chars: 2000, ...named });
    const [cut] = files;
    const rest = await w.ok('read_file', { path: 'long', ...named, ...cut.next });
    const whole = await w.ok('read_file', { path: 'long', ...named });
    expect(cut).toMatchObject({ encoding, truncated: true });
    const decoded = (text: string): string =>
      encoding === 'base64' ? Buffer.from(text, 'base64').toString('hex') : text;
    expect(decoded(cut.content) + decoded(rest.content)).toBe(decoded(whole.content));
  });

  test.each([{}, { paths: ['a'], pattern: '*' }, { paths: [] }])('read_files wants one of both: %j', async (args) => {
    expect(await w.fails('read_files', args)).toMatch(/exactly one of paths or pattern|non-empty list/);
  });
});

test.each(['text', 'both'] as const)(
  'a search for files that runs out of time is no empty result: %s',
  async (mode) => {
    const folder = tempDir();
    using root = Root.open('w', folder);
    const { signal } = new AbortController();
    const abandoned = new Promise<void>(() => {});
    const stopped = { stopped: true, abandoned, stop: () => {}, requestSteal: () => {}, [Symbol.dispose]: () => {} };
    const context = {
      signal,
      results: { ...DEFAULT_RESULT_FORM, mode },
      root: () => root,
      require: () => {},
      search: { size: 1, begin: () => stopped },
    } as unknown as CallContext;
    const args = readFiles.input.parse({ root: 'w', pattern: '**' });
    const result = await readFiles.run(args, context);
    expect(result).toMatchObject({ hint: 'the search for files stopped for time, so there may be more' });
    if (mode === 'text') expect(readFiles.readerText?.(result, args)).toBe(`[${result.hint}]`);
    fs.rmSync(folder, { recursive: true });
  },
);

inWorkspace({ roots: { workspace: ['read_files'], both: ['read_files', 'glob'] } }, (w) => {
  test('read_files by pattern needs glob, too', async () => {
    w.file('f', 'x');
    w.file('f', 'x', 'both');
    expect((await w.ok('read_files', { paths: ['f'] })).files).toHaveLength(1);
    expect(await w.fails('read_files', { pattern: '*' })).toContain('tool glob not allowed on root workspace');
    expect((await w.ok('read_files', { root: 'both', pattern: '*' })).files).toHaveLength(1);
    expect(await w.fails('read_file', { path: 'f' })).toContain('not allowed');
  });
});

/** Starts a server on a folder for a client that is served text alone. */
async function serveText({ transport, era }: Connection, folder: string, config: object = {}) {
  const roots = [{ name: 'w', path: folder }];
  return startServer({ transport, roots, config: { ...config }, client: newClient(era, {}, 'claude-code') });
}

describe.each(CONNECTIONS)('as text: $transport, $era', (connection) => {
  test('files, images and trees read as people print them', async () => {
    const folder = tempDir();
    fs.mkdirSync(`${folder}/sub`);
    fs.writeFileSync(`${folder}/a.txt`, 'one\ntwo\nthree\n');
    fs.writeFileSync(`${folder}/sub/p`, PNG);
    for (const name of ['sub/p', 'sub', 'a.txt']) fs.utimesSync(`${folder}/${name}`, 1, 1);
    await using server = await serveText(connection, folder);
    const call = (tool: string, args: object) => server.call(tool, { root: 'w', ...args });
    const text = async (tool: string, args: object) => (await call(tool, args)).text;
    expect(await text('read_file', { path: 'a.txt', limit_lines: 2 })).toMatch(
      /^1\tone\n2\ttwo\n\[lines 1-2 of 3, version \w{12}; next: \{"offset_lines":3\}\]$/,
    );
    expect(await text('read_file', { path: 'a.txt', offset_lines: -1 })).toMatch(/^3\tthree\n\[version \w{12}\]$/);
    const picture = await call('read_file', { path: 'sub/p' });
    expect(picture.raw.content[0]).toMatchObject({ type: 'image', mimeType: 'image/png' });
    expect(picture.raw).not.toHaveProperty('structuredContent');
    expect(await text('list_folder', { path: '', depth: 2 })).toBe(
      `a.txt\t14\t1970-01-01T00:00Z\nsub/\t-\t1970-01-01T00:00Z\n  p\t${PNG.length}\t1970-01-01T00:00Z\n`,
    );
    expect(await text('read_files', { paths: ['a.txt', 'none', 'sub/p'] })).toMatch(
      /^==> a\.txt <== version \w{12}\n1\tone\n2\ttwo\n3\tthree\n\n==> none <==\n\[error: file not found: none \(root: w\).*\]\n\n==> sub\/p <== version \w{12}\n\[image\/png, 70 bytes; read_file shows it\]$/,
    );
    fs.rmSync(folder, { recursive: true });
  });
});

test('as text, a result stays below max_result_chars and next gets the rest', async () => {
  const folder = tempDir();
  const lines = Array.from({ length: 2000 }, (_, index) => `this is line ${index + 1}`);
  fs.writeFileSync(`${folder}/log`, `${lines.join('\n')}\n`);
  for (let i = 0; i < 200; i += 1) fs.writeFileSync(`${folder}/file-${1000 + i}`, '');
  await using server = await serveText(CONNECTIONS[0] as Connection, folder, { max_result_chars: 5000 });
  const pages = async (tool: string, args: object): Promise<string[]> => {
    const { text } = await server.call(tool, { root: 'w', ...args });
    expect(text.length).toBeLessThanOrEqual(5000);
    const last = /\n?\[.*; next: (\{.*\})\]$/.exec(text);
    if (last === null) return [text.replace(/\n\[version \w+\]$/, '')];
    return [text.slice(0, last.index), ...(await pages(tool, { ...args, ...JSON.parse(last[1] ?? '') }))];
  };
  const read = await pages('read_file', { path: 'log' });
  expect(read.join('\n').split('\n')).toEqual(lines.map((line, index) => `${index + 1}\t${line}`));
  const listed = (await pages('list_folder', { path: '' })).flatMap((page) => page.trimEnd().split('\n'));
  expect(listed).toHaveLength(201);
  expect(new Set(listed).size).toBe(201);
  fs.rmSync(folder, { recursive: true });
});
