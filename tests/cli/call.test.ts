import { once } from 'node:events';
import fs from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { noTerminal, runOnTerminal } from '../support/pty.ts';
import {
  type Ended,
  type RunOptions,
  runRingfence,
  spawnRingfence,
  writeConfig,
} from '../support/ringfence-process.ts';
import { startServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';

let dir: string;
const made: string[] = [];

beforeEach(() => {
  dir = path.join(tempDir('ringfence-call-'), 'project');
  made.push(path.dirname(dir));
  fs.mkdirSync(path.join(dir, 'src'), { recursive: true });
  fs.writeFileSync(path.join(dir, 'a.txt'), 'one\ntwo apples\nthree\n');
  fs.writeFileSync(path.join(dir, 'src/b.ts'), 'const apples = 2;\n');
  fs.symlinkSync('a.txt', path.join(dir, 'link'));
});
afterAll(() => {
  for (const each of made) fs.rmSync(each, { recursive: true, force: true });
});

const call = (words: readonly string[], options: RunOptions = {}): Promise<Ended> =>
  runRingfence(['call', ...words], { cwd: dir, ...options });
const out = async (...words: string[]): Promise<string> => {
  const { code, stdout, stderr } = await call(words);
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
};

describe('results in a pipe are plain text', () => {
  test('a folder is a table, with depth a tree', async () => {
    expect(await out('list_folder')).toMatch(/^21B {2}\S+ \S+ {2}a\.txt\n +\dB .* link → file\n +\S+ \S+ {2}src\/\n$/);
    expect(await out('list_folder', 'depth=2')).toBe(
      '├── a.txt  21B\n├── link → file  5B\n└── src/\n    └── b.ts  18B\n',
    );
  });

  test('matches are path:line:text, as ripgrep prints them', async () => {
    expect(await out('grep', 'pattern=apples')).toBe('a.txt:2:two apples\nsrc/b.ts:1:const apples = 2;\n');
    expect(await out('grep', 'pattern=apples', 'context_lines=1', 'glob_filter=*.txt')).toBe(
      'a.txt-1-one\na.txt:2:two apples\na.txt-3-three\n',
    );
    expect(await out('grep', 'pattern=apples', 'output=files')).toBe('a.txt\nsrc/b.ts\n');
    expect(await out('grep', 'pattern=apples', 'output=counts')).toBe('a.txt:1\nsrc/b.ts:1\n');
    expect(await out('glob', 'pattern=**')).toBe('a.txt\nlink\nsrc/\nsrc/b.ts\n');
  });

  test('a file is its content, byte for byte', async () => {
    expect(await out('read_file', 'path=a.txt')).toBe('one\ntwo apples\nthree\n');
    const bytes = Buffer.from([0, 1, 2, 255, 254]);
    fs.writeFileSync(path.join(dir, 'x.bin'), bytes);
    const child = spawnRingfence(['call', 'read_file', 'path=x.bin'], { cwd: dir });
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    await once(child, 'close');
    expect(Buffer.concat(chunks)).toEqual(bytes);
  });

  test('several files have headings, a change has a diff, and the rest is named values', async () => {
    expect(await out('read_files', 'paths=a.txt', 'paths=none')).toMatch(
      /^==> a\.txt <==\none\n[\s\S]*\n==> none <==\n.*not found/,
    );
    expect(await out('edit_file', 'path=a.txt', 'old_text=one', 'new_text=1')).toMatch(
      /^path +a\.txt\nreplacements +1\n[\s\S]*\n@@ -1,3 \+1,3 @@\n-one\n\+1\n two apples\n three\n$/,
    );
    expect(await out('hash_file', 'path=a.txt', 'algorithm=md5')).toMatch(
      /^path +a\.txt\nalgorithm +md5\nhash +[0-9a-f]{32}\n/,
    );
    expect(await out('list_roots')).toMatch(/^name +allowed_tools\nproject +list_folder, /);
  });

  test('what is left out is said on stderr', async () => {
    const { stdout, stderr } = await call(['grep', 'pattern=.', 'max_results=1']);
    expect(stdout.split('\n')).toHaveLength(2);
    expect(stderr).toBe('ringfence: this is not all. To go on: offset=1\n');
  });

  test('--json prints the structured result', async () => {
    expect(JSON.parse(await out('read_file', 'path=a.txt', 'limit_lines=1', '--json'))).toMatchObject({
      content: 'one\n',
      truncated: true,
    });
  });
});

describe('arguments', () => {
  test('come from files and stdin', async () => {
    await out('write_file', 'path=copy.txt', 'content=@a.txt');
    expect(fs.readFileSync(path.join(dir, 'copy.txt'), 'utf8')).toBe('one\ntwo apples\nthree\n');
    await call(['write_file', 'path=in.txt', 'content=-'], { stdin: 'ä\r\nb' });
    expect(fs.readFileSync(path.join(dir, 'in.txt'), 'utf8')).toBe('ä\r\nb');
  });

  test.each<[string[], string]>([
    [['read_fil', 'path=a'], 'unknown tool "read_fil" (did you mean read_file?)'],
    [['read_file', 'pth=a'], 'unknown argument "pth" (did you mean path?)'],
    [['read_file'], 'read_file needs path=…'],
    [['read_file', 'path'], 'an argument is written key=value'],
    [['write_file', 'path=a', 'content=@none'], '@none: cannot be read: there is no such file'],
    [['list_folder', '--dialect', 'clasic'], '(did you mean classic?)'],
    [['list_folder', '--root', 'none'], 'does not exist'],
    [['list_folder', '--root', '.', '--config', 'x'], 'give one of --root, --config and --url'],
    [['list_folder', '--url', 'ftp://x'], '--url: must be an address'],
    [['list_folder', '--rot', '.'], '(Did you mean --root?)'],
  ])('%j is a mistake in the command: %s', async (words, problem) => {
    const { code, stdout, stderr } = await call(words);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(problem);
  });

  test('a root has to be named if there are several', async () => {
    const two = ['--root', '.', '--root', 'src'];
    expect(await call([...two, 'list_folder'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('which root? add root=… with one of project, src'),
    });
    expect((await call([...two, 'list_folder', 'root=src'])).stdout).toContain('b.ts');
  });
});

test('a tool that fails is one line and exit code 1', async () => {
  expect(await call(['read_file', 'path=none'])).toEqual({
    code: 1,
    stdout: '',
    stderr: 'ringfence: read_file: file not found: none (root: project)\n',
  });
  expect((await call(['read_file', 'path=../../etc/passwd'])).code).toBe(1);
});

test('the tools are listed with their arguments', async () => {
  const listed = await out();
  expect(listed).toMatch(/^read_file +Read a file.*\n +root= path= \[offset_bytes=\]/m);
  expect(await out('--list')).toBe(listed);
  expect(await out('--list', 'grep')).toMatch(/^ {2}exclude +list of string/m);
  expect(JSON.parse(await out('--list', 'grep', '--json'))).toHaveLength(1);
});

test('the config of the folder holds, in each of its dialects', async () => {
  const root = { name: 'notes', path: '.', allowed_tools: ['*'], deny: ['src'], read_only: true };
  const config = { roots: [root], dialects: { workspace: {}, memory: { root: 'notes' }, classic: { root: 'notes' } } };
  fs.writeFileSync(path.join(dir, 'ringfence.yaml'), JSON.stringify(config));
  expect(await out('list_folder')).not.toContain('src');
  expect((await call(['write_file', 'path=n', 'content=x'])).code).toBe(1);
  expect(await out('view', 'path=.', '--dialect', 'memory')).toContain('a.txt\n');
  expect(await out('view', 'path=a.txt', '--dialect', 'memory')).toBe('one\ntwo apples\nthree\n');
  const create = ['create', 'path=n', 'content=x', 'encoding=utf-8', '--dialect', 'memory'];
  expect(await call(create)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^ringfence: create: [A-Z][^{]*\n$/),
  });
  expect(await out('list', 'path=.', '--dialect', 'classic')).toMatch(/21B .* a\.txt\n/);
  const search = ['search', 'root_path=.', 'pattern=APPLES', 'context_lines=1', '--dialect', 'classic'];
  expect(await out(...search)).toBe('a.txt-1-one\na.txt:2:two apples\na.txt-3-three\n');
  expect(await call(['list_folder', '--dialect', 'guide'])).toMatchObject({ code: 2 });
});

test('one folder speaks the dialects that work on one root', async () => {
  expect(await out('info', 'path=a.txt', '--root', '.', '--dialect', 'classic')).toMatch(/^size +21$/m);
  expect((await call(['view', 'path=.', '--dialect', 'memory', '--root', '.', '--root', 'src'])).code).toBe(2);
});

describe('a server at an address', () => {
  const TOKEN = 'a-token-that-is-long-enough';
  const auth = { tokens: [{ name: 'ci', token_env: 'T', roots: ['notes'] }] };

  test('is called with the token of the environment', async () => {
    const roots = [{ name: 'notes', path: dir }];
    await using server = await startServer({ roots, config: { auth }, env: { T: TOKEN }, token: TOKEN });
    const at = (url: string, words: string[], token = TOKEN) =>
      call(['--url', url, ...words], { env: { RINGFENCE_TOKEN: token } });
    expect((await at(server.url, ['read_file', 'path=a.txt'])).stdout).toBe('one\ntwo apples\nthree\n');
    expect((await at(new URL(server.url).origin, ['grep', 'pattern=two'])).stdout).toBe('a.txt:2:two apples\n');
    expect(await at(server.url, ['read_file', 'path=none'])).toMatchObject({ code: 1, stdout: '' });
    for (const wrong of ['', 'another-token-that-is-wrong']) {
      const { code, stderr } = await at(server.url, ['list_folder'], wrong);
      expect([code, stderr]).toEqual([3, expect.stringContaining('RINGFENCE_TOKEN')]);
      expect(stderr).not.toContain('another-token');
    }
    expect(await at(`${server.url}/none`, ['list_folder'])).toMatchObject({ code: 3 });
  });

  test('that is not there is exit code 3', async () => {
    const gone = createServer().listen(0, '127.0.0.1');
    await once(gone, 'listening');
    const { port } = gone.address() as AddressInfo;
    gone.close();
    await once(gone, 'close');
    const { code, stderr } = await call(['--url', `http://127.0.0.1:${port}/mcp`, 'list_folder']);
    expect([code, stderr]).toEqual([3, expect.stringMatching(/^ringfence: .*nothing listens there\n$/)]);
  });

  test('that redirects gets no token elsewhere', async () => {
    const seen: unknown[] = [];
    const other = createServer((request) => seen.push(request.headers)).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const location = `http://127.0.0.1:${(other.address() as AddressInfo).port}/mcp`;
    const first = createServer((_, response) => response.writeHead(307, { location }).end()).listen(0, '127.0.0.1');
    await once(first, 'listening');
    const url = `http://127.0.0.1:${(first.address() as AddressInfo).port}/mcp`;
    const { code, stderr } = await call(['--url', url, 'list_folder'], { env: { RINGFENCE_TOKEN: TOKEN } });
    expect([code, stderr, seen]).toEqual([3, expect.stringContaining('redirects elsewhere'), []]);
    first.close();
    other.close();
  });

  test('is told that Ctrl+C cancels the call', async () => {
    const requests: { readonly id?: number; readonly method: string; readonly params?: object }[] = [];
    const server = createServer(async (request, response) => {
      const body = await text(request);
      const message = JSON.parse(body === '' ? '{"method":"DELETE"}' : body);
      requests.push(message);
      const result =
        message.method === 'tools/list'
          ? { tools: [{ name: 'wait', inputSchema: { type: 'object' } }] }
          : { protocolVersion: '2025-11-25' };
      if (message.method === 'tools/call') child.kill('SIGINT');
      else if (message.id === undefined) response.writeHead(202).end();
      else
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
    const child = spawnRingfence(['call', '--url', url, 'wait'], { cwd: dir });
    const [code] = await once(child, 'close');
    server.closeAllConnections();
    server.close();
    const called = requests.find(({ method }) => method === 'tools/call');
    expect([code, requests.at(-1)]).toMatchObject([
      130,
      { method: 'notifications/cancelled', params: { requestId: called?.id } },
    ]);
  });
});

describe.skipIf(noTerminal !== undefined)(
  `on a terminal${noTerminal === undefined ? '' : ` (skipped: ${noTerminal})`}`,
  () => {
    const at = (words: string[]) => ['call', '--root', dir, ...words];

    test('matches stand out below their file, and a diff is coloured', async () => {
      const { screen } = await runOnTerminal(at(['grep', 'pattern=appl?es']));
      expect(screen).toContain(
        '\u001b[35ma.txt\u001b[0m\n\u001b[32m2\u001b[0m:two \u001b[1;31mapples\u001b[0m\n\n\u001b[35msrc/b.ts',
      );
      const edited = await runOnTerminal(at(['edit_file', 'path=a.txt', 'old_text=one', 'new_text=1', 'dry_run=true']));
      expect(edited.screen).toContain('\u001b[31m-one\u001b[0m\n\u001b[32m+1\u001b[0m\n');
    });

    test('NO_COLOR turns colours off', async () => {
      const { screen } = await runOnTerminal(at(['grep', 'pattern=apples']), [], { NO_COLOR: '1' });
      expect(screen).toContain('a.txt\n2:two apples\n');
      expect(screen).not.toContain('\u001b[3');
    });

    test('what a terminal would act on is escaped, and bytes are only counted', async () => {
      fs.writeFileSync(path.join(dir, 'evil.txt'), '\u001b]0;title\u0007\tx\n');
      const { screen } = await runOnTerminal(at(['read_file', 'path=evil.txt']));
      expect(screen).toBe('\\u001b]0;title\\u0007\tx\n');
      fs.writeFileSync(path.join(dir, 'x.bin'), Buffer.from([0, 27, 255]));
      expect((await runOnTerminal(at(['read_file', 'path=x.bin']))).screen).toMatch(/^3 bytes.* cannot show/);
    });

    test('the person is asked where a root wants that', async () => {
      const roots = [{ name: 'p', path: dir, allowed_tools: ['*'], confirm: ['remove_folder'] }];
      const words = ['call', '--config', writeConfig({ roots }), 'remove_folder', 'path=src'];
      const refused = await runOnTerminal(words, [['[y/N]', 'n']]);
      expect([refused.code, fs.existsSync(path.join(dir, 'src'))]).toEqual([1, true]);
      expect(refused.screen).toContain('Allow remove_folder');
      const agreed = await runOnTerminal(words, [['[y/N]', 'y']]);
      expect([agreed.code, fs.existsSync(path.join(dir, 'src'))]).toEqual([0, false]);
      const unattended = await runRingfence(words.map((word) => (word === 'path=src' ? 'path=.git' : word)));
      expect(unattended.code).toBe(1);
    });
  },
);

test.skipIf(noTerminal !== undefined)(
  `a long call shows a bar on a terminal, and removes it for its result${noTerminal === undefined ? '' : ` (skipped: ${noTerminal})`}`,
  async () => {
    const file = path.join(dir, 'large.bin');
    fs.writeFileSync(file, '');
    fs.truncateSync(file, 1024 ** 3);
    const { code, screen } = await runOnTerminal([
      ...['call', '--root', dir, 'hash_file', 'path=large.bin', 'algorithm=md5'],
    ]);
    expect(code).toBe(0);
    expect(screen).toMatch(/hash_file {2}\[#* *\] \d+% {2}[\d,]+\/1,073,741,824/);
    // The hash of so many zeros.
    const [bars, result] = screen.split('cd573cfaace07e7949bc0c46028904ff');
    expect(result).toBeDefined();
    expect(bars?.lastIndexOf('\r\u001b[K')).toBeGreaterThan(bars?.lastIndexOf('%') ?? -1);
  },
);
