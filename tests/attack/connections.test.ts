import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { callOf, connectMany } from '../support/attack.ts';
import { ProcessLog, writeConfig } from '../support/ringfence-process.ts';
import { tempDir } from '../support/temp-dir.ts';

const BIN = fileURLToPath(new URL('../../dist/bin.js', import.meta.url));

test.skipIf(process.platform !== 'linux')(
  'however many connections are opened, descriptors for files are left (needs Linux)',
  async () => {
    const dir = tempDir();
    fs.writeFileSync(path.join(dir, 'a.txt'), 'hello\n');
    const roots = [{ name: 'r', path: dir, allowed_tools: ['*'] }];
    const config = writeConfig({ host: '127.0.0.1', port: 0, roots });
    const command = `ulimit -n 256 && exec "$0" "$1" serve --config "$2"`;
    const child = spawn('/bin/sh', ['-c', command, process.execPath, BIN, config]);
    const log = new ProcessLog(child);
    child.stdout.resume();
    const { url } = await log.waitFor(({ msg }) => msg === 'listening');
    const sockets = await connectMany({ url }, 300);
    try {
      for (const args of [{ path: 'a.txt' }, { path: '.', pattern: 'hello' }]) {
        const tool = 'pattern' in args ? 'grep' : 'read_file';
        const { headers, body } = callOf({ url }, tool, { root: 'r', ...args });
        const answer = await fetch(url, { method: 'POST', headers, body });
        const text = await answer.text();
        expect(text, log.text).not.toContain('isError');
        expect([answer.status, text.includes('hello')]).toEqual([200, true]);
      }
      const open = fs.readdirSync(`/proc/${child.pid}/fd`).length;
      expect(open).toBeLessThan(256);
    } finally {
      for (const socket of sockets) socket.destroy();
      child.kill();
      await once(child, 'close');
      for (const each of [dir, path.dirname(config)]) fs.rmSync(each, { recursive: true, force: true });
    }
    expect(log.text).not.toContain('EMFILE');
  },
);
