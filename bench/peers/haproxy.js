import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { endChild, startChild } from '../clients/child.js';
import { freePort } from '../free-port.js';

const CONFIG = new URL('../../deploy/haproxy.cfg', import.meta.url);

/** HAProxy with the config of deploy/, for replicas at ports of this machine: `{ url, close }`. */
export async function startBalancer(folder, ports) {
  const port = await freePort();
  const servers = ports.map((at, number) => `  server replica${number} 127.0.0.1:${at}`).join('\n');
  const text = fs
    .readFileSync(CONFIG, 'utf8')
    .replace(/^ {2}server-template .*$/m, servers)
    .replace(/^ {2}bind .*$/m, `  bind 127.0.0.1:${port}`);
  const file = path.join(folder, `haproxy-${port}.cfg`);
  fs.writeFileSync(file, text);
  const child = startChild('haproxy', ['-db', '-q', '-f', file]);
  child.stdout.resume();
  const url = `http://127.0.0.1:${port}/mcp`;
  for (let tries = 0; ; tries++) {
    const answer = await fetch(new URL('/ready', url)).catch(() => undefined);
    if (answer?.ok) return { url, close: () => endChild(child) };
    if (tries > 100) throw new Error('haproxy does not serve');
    await later(50);
  }
}
