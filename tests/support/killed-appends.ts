import { once } from 'node:events';
import fs from 'node:fs';
import { expect } from 'vitest';
import { memory, Sandbox } from '../../src/fence/sandbox.fixture.ts';
import { undoAppends } from '../../src/files/write/append-journal.ts';
import { startChild } from './child.ts';

const BYTES = 9_000_000;

/** Appends 9 MB again and again, and tells when one is done, until it is killed. */
const APPEND_FOREVER = `
const { writeSync } = await import('node:fs');
const blocks = ['a', 'b', 'c'].map((letter) => Buffer.alloc(${BYTES}, letter));
answer('ready');
for (let i = 0; ; i += 1) {
  await writeFile(root, path('f'), blocks[i % 3], { mode: 'append', durable: false });
  writeSync(1, '.');
}`;

/** Kills a process that appends, this many times. Every append is there whole or not at all. Returns how many were torn before. */
export async function killAppends(kills: number, fence: string): Promise<{ torn: number }> {
  let torn = 0;
  for (let kill = 0; kill < kills; kill += 1) {
    using box = new Sandbox('openat2', memory());
    box.file('f', '');
    const child = startChild(APPEND_FOREVER, { folder: box.inside, fence });
    const said: Buffer[] = [];
    child.stdout?.on('data', (chunk: Buffer) => said.push(chunk));
    await once(child.stdout as NodeJS.ReadableStream, 'data');
    await new Promise((resolve) => setTimeout(resolve, (kill * 7) % 60));
    child.kill('SIGKILL');
    await once(child, 'close');
    if (fs.statSync(box.host('f')).size % BYTES !== 0) torn += 1;
    await undoAppends(box.root);
    const acknowledged = Buffer.concat(said).toString().split('.').length - 1;
    const content = fs.readFileSync(box.host('f'));
    expect(content.length % BYTES).toBe(0);
    expect(content.length / BYTES - acknowledged).toBeGreaterThanOrEqual(0);
    expect(content.length / BYTES - acknowledged).toBeLessThanOrEqual(1);
    for (let at = 0; at < content.length; at += BYTES) {
      expect(content.subarray(at, at + BYTES).equals(Buffer.alloc(BYTES, content[at]))).toBe(true);
    }
  }
  return { torn };
}
