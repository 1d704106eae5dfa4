import fs from 'node:fs';
import { expect, test } from 'vitest';
import { inWorkspace, VERSION } from '../support/workspace.ts';

inWorkspace({}, (w, { transport, era }) => {
  test('E2E-014 FR-006: overwrite replaces all there was', async () => {
    w.file('existing.txt', 'old content, which is longer');
    const written = await w.ok('write_file', { path: 'existing.txt', content: 'new content', mode: 'overwrite' });
    expect(written).toEqual({ path: 'existing.txt', size: 11, mode: 'overwrite', version: VERSION });
    expect((await w.ok('read_file', { path: 'existing.txt' })).content).toBe('new content');
    expect(w.text('existing.txt')).toBe('new content');
  });

  test('E2E-015 FR-006: append adds to the end, or creates', async () => {
    w.file('log.txt', 'line1\n');
    const appended = await w.ok('write_file', { path: 'log.txt', content: 'line2\n', mode: 'append' });
    expect(appended).toEqual({ path: 'log.txt', size: 6, mode: 'append', version: VERSION });
    expect((await w.ok('read_file', { path: 'log.txt' })).content).toBe('line1\nline2\n');
    await w.ok('write_file', { path: 'deep/new.txt', content: 'first', mode: 'append' });
    expect(w.text('deep/new.txt')).toBe('first');
  });

  test('E2E-016 FR-006: create_only creates what is not there', async () => {
    const created = await w.ok('write_file', { path: 'new.txt', content: 'created', mode: 'create_only' });
    expect(created).toEqual({ path: 'new.txt', size: 7, mode: 'create_only', version: VERSION });
    expect((await w.ok('read_file', { path: 'new.txt' })).content).toBe('created');
  });

  test('E2E-017 FR-006: create_only leaves alone what is there', async () => {
    w.file('config/app.yaml', 'kept');
    const text = await w.fails('write_file', { path: 'config/app.yaml', content: 'nope', mode: 'create_only' });
    expect(text).toBe('file already exists: config/app.yaml; use overwrite mode to replace (root: workspace)');
    expect((await w.ok('read_file', { path: 'config/app.yaml' })).content).toBe('kept');
    expect(w.tree()).toEqual(['config/', 'config/app.yaml']);
  });

  test('E2E-018 FR-006: missing folders are made', async () => {
    expect(await w.ok('write_file', { path: 'deep/nested/dir/file.txt', content: 'deep' })).toEqual({
      path: 'deep/nested/dir/file.txt',
      size: 4,
      mode: 'overwrite',
      version: VERSION,
    });
    expect((await w.ok('read_file', { path: 'deep/nested/dir/file.txt' })).content).toBe('deep');
  });

  test.each(['truncate', '', 'Overwrite'])('E2E-074 FR-006 NFR-011: %j is not a mode', async (mode) => {
    w.file('file.txt', 'kept');
    const text = await w.fails('write_file', { path: 'file.txt', content: 'x', mode });
    expect(text).toContain('valid modes: overwrite, append, create_only');
    expect(w.text('file.txt')).toBe('kept');
  });

  test('a folder or the root cannot be written, nor what is below a file', async () => {
    w.folder('folder');
    w.file('file');
    for (const mode of ['overwrite', 'append']) {
      expect(await w.fails('write_file', { path: 'folder', content: 'x', mode })).toContain('path is a directory');
      expect(await w.fails('write_file', { path: '', content: 'x', mode })).toContain('path is a directory');
    }
    expect(await w.fails('write_file', { path: 'file/below', content: 'x' })).toContain('file/below');
    expect(w.tree()).toEqual(['file', 'folder/']);
  });

  test('NFR-014: nothing but the file is left, and the mode of a replaced file is kept', async () => {
    w.file('script.sh', 'old');
    fs.chmodSync(w.host('script.sh'), 0o750);
    await w.ok('write_file', { path: 'script.sh', content: 'new' });
    expect(w.tree()).toEqual(['script.sh']);
    expect(fs.statSync(w.host('script.sh')).mode & 0o777).toBe(0o750);
    // A reader that has the old file open keeps it: the new one came by rename.
    const fd = fs.openSync(w.host('script.sh'), 'r');
    await w.ok('write_file', { path: 'script.sh', content: 'newer' });
    expect(fs.readFileSync(fd, 'utf8')).toBe('new');
    fs.closeSync(fd);
  });

  test('a new file is writable by its owner only as the umask allows', async () => {
    await w.ok('write_file', { path: 'new.txt', content: 'x' });
    expect(fs.statSync(w.host('new.txt')).mode & 0o022).toBe(0);
  });

  test('writing through a link changes its target and keeps the link', async () => {
    w.file('real.txt', 'old');
    w.link('real.txt', 'link.txt');
    await w.ok('write_file', { path: 'link.txt', content: 'new' });
    expect(w.text('real.txt')).toBe('new');
    expect(fs.readlinkSync(w.host('link.txt'))).toBe('real.txt');
  });

  test.each([
    ['CRLF', 'a\r\nb\r\n'],
    ['a byte order mark', '\ufeffa\n'],
    ['no final newline', 'a\nb'],
    ['emoji and combining marks', '👩‍👩‍👧 e\u0301 \u{10ffff}'],
    ['line and paragraph separators', 'a\u2028b\u2029c\u0085d'],
    ['control characters', '\u0000\u0001\u001b[31m\u007f\b\t\v\f\r'],
    ['quotes and backslashes', '"\\n"\'`$x` \\u0041 </script>'],
    ['replacement and private characters', '\ufffd\ue000\ufffe\uffff'],
    ['nothing', ''],
    ['newlines only', '\n\n\n'],
    ['a megabyte', 'äöü€😀\r\n'.repeat(50_000)],
  ])('bytes are kept from write to read: %s', async (_, content) => {
    const bytes = Buffer.from(content);
    for (const mode of ['create_only', 'overwrite', 'append']) {
      const written = await w.ok('write_file', { path: `${mode}.txt`, content, mode });
      expect(written.size).toBe(bytes.length);
      expect(w.bytes(`${mode}.txt`).equals(bytes)).toBe(true);
    }
    const read = await w.ok('read_file', { path: 'overwrite.txt' });
    expect(read.encoding).toBe('utf-8');
    expect(read.content === content).toBe(true);
  });

  test('text that UTF-8 cannot hold is refused rather than changed', async () => {
    w.file('file.txt', 'kept');
    for (const mode of ['overwrite', 'append', 'create_only']) {
      expect(await w.fails('write_file', { path: 'file.txt', content: 'a\ud800b', mode })).toContain('surrogate');
    }
    expect(w.text('file.txt')).toBe('kept');
  });

  test('of many that create the same file at once exactly one wins', async () => {
    const clients = transport === 'http' ? [await w.server.connect({ era }), await w.server.connect({ era })] : [];
    const all = [w.server, ...clients];
    for (let round = 0; round < 5; round += 1) {
      const path = `race/${round}.txt`;
      const results = await Promise.all(
        Array.from({ length: 24 }, (_, index) => {
          const args = { root: 'workspace', path, content: `writer ${index}`, mode: 'create_only' };
          return (all[index % all.length] ?? w.server).call('write_file', args);
        }),
      );
      const winners = results.flatMap(({ isError }, index) => (isError ? [] : [index]));
      expect(winners).toHaveLength(1);
      expect(w.text(path)).toBe(`writer ${winners[0]}`);
      for (const { isError, text } of results) if (isError) expect(text).toContain('file already exists');
    }
    for (const client of clients) await client[Symbol.asyncDispose]();
    expect(w.tree()).toHaveLength(6);
  });

  test('of many that append at once no line is lost or torn', async () => {
    const clients = transport === 'http' ? [await w.server.connect({ era }), await w.server.connect({ era })] : [];
    const all = [w.server, ...clients];
    const lines = Array.from({ length: 120 }, (_, index) => `${String(index).padStart(4, '0')} ${'x'.repeat(900)}`);
    await Promise.all(
      lines.map((line, index) => {
        const args = { root: 'workspace', path: 'log.txt', content: `${line}\n`, mode: 'append' };
        return (all[index % all.length] ?? w.server).call('write_file', args);
      }),
    );
    for (const client of clients) await client[Symbol.asyncDispose]();
    expect(w.text('log.txt').split('\n').sort()).toEqual(['', ...lines]);
  });

  test('dry_run shows what would be written and writes nothing', async () => {
    w.file('a.txt', 'one\ntwo\nthree\n');
    const content = 'one\n2\nthree\n';
    expect(await w.ok('write_file', { path: 'a.txt', content, dry_run: true })).toEqual({
      path: 'a.txt',
      size: 12,
      mode: 'overwrite',
      version: VERSION,
      dry_run: true,
      diff: '--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n',
    });
    const appended = await w.ok('write_file', { path: 'a.txt', content: 'four', mode: 'append', dry_run: true });
    expect(appended.diff).toContain('@@ -1,3 +1,4 @@\n one\n two\n three\n+four\n\\ No newline at end of file\n');
    const created = await w.ok('write_file', { path: 'deep/new.txt', content, mode: 'create_only', dry_run: true });
    expect(created.diff).toContain('@@ -0,0 +1,3 @@\n+one\n');
    w.file('bytes', Buffer.from([0, 1, 0xff]));
    expect(await w.ok('write_file', { path: 'bytes', content, dry_run: true })).not.toHaveProperty('diff');
    expect(await w.ok('write_file', { path: 'a.txt', content: 'one\ntwo\nthree\n', dry_run: true })).toMatchObject({
      diff: '',
    });
    w.folder('folder');
    w.link('nowhere', 'dangling');
    const refused = { content, dry_run: true };
    expect(await w.fails('write_file', { path: 'folder', ...refused })).toContain('path is a directory: folder');
    expect(await w.fails('write_file', { path: 'a.txt', mode: 'create_only', ...refused })).toContain('already exists');
    expect(await w.fails('write_file', { path: 'dangling', mode: 'create_only', ...refused })).toContain(
      'already exists',
    );
    expect(w.text('a.txt')).toBe('one\ntwo\nthree\n');
    expect(w.tree()).toEqual(['a.txt', 'bytes', 'dangling -> nowhere', 'folder/']);
  });
});
