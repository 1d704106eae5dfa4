import { setTimeout as delay } from 'node:timers/promises';
import { connect, connectMany, INITIALIZE, jsonHeaders, post, rawCall, rawHead } from '../support/attack.ts';
import type { Attack } from './watch-attacks.ts';

const READ = { root: 'r', path: 'megabyte.txt' };
/** How long an attacker keeps what it has, without reading or sending more. */
const HOLD_MS = 2_000;

/** Each of these made a server without limits take over a gigabyte. */
export const MEMORY_ATTACKS: readonly Attack[] = [
  {
    name: 'many reads in one connection whose answers nobody reads',
    run: async (target, scale) => {
      const socket = await connect(target);
      const call = rawCall(target, 'read_file', READ);
      for (let sent = 0; sent < 2_000 * scale; sent += 1) socket.write(call);
      await delay(HOLD_MS);
      socket.destroy();
    },
  },
  {
    name: 'one read in each of many connections whose answers nobody reads',
    run: async (target, scale) => {
      const sockets = await connectMany(target, 1_000 * scale);
      for (const socket of sockets) socket.write(rawCall(target, 'read_file', READ));
      await delay(HOLD_MS);
      for (const socket of sockets) socket.destroy();
    },
  },
  {
    name: 'many large bodies that never end',
    run: async (target, scale) => {
      const sockets = await connectMany(target, 300 * scale);
      const length = 10 * 1024 * 1024;
      const head = rawHead(target.url, { ...jsonHeaders(target.token), 'content-length': length });
      const part = Buffer.alloc(length / 16, 'x');
      for (const socket of sockets) socket.write(head);
      for (let sent = 0; sent < 15; sent += 1) {
        for (const socket of sockets) if (!socket.destroyed) socket.write(part);
        await delay(100);
      }
      await delay(HOLD_MS);
      for (const socket of sockets) socket.destroy();
    },
  },
  {
    name: 'bodies in chunks of one byte',
    run: async (target, scale) => {
      const sockets = await connectMany(target, 20 * scale);
      const head = rawHead(target.url, { ...jsonHeaders(target.token), 'transfer-encoding': 'chunked' });
      const chunks = Buffer.from('1\r\nx\r\n'.repeat(50_000));
      for (const socket of sockets) socket.write(head);
      for (let sent = 0; sent < 4; sent += 1) {
        for (const socket of sockets) if (!socket.destroyed) socket.write(chunks);
        await delay(100);
      }
      await delay(HOLD_MS);
      for (const socket of sockets) socket.destroy();
    },
  },
  {
    name: 'tiny requests behind one that is not answered',
    run: async (target, scale) => {
      const sockets = await connectMany(target, 300 * scale);
      const head = rawHead(target.url, { ...jsonHeaders(target.token), 'content-length': 0 });
      for (const socket of sockets) {
        for (let sent = 0; sent < 2; sent += 1) socket.write(rawCall(target, 'read_file', READ));
        socket.write(head.repeat(400));
      }
      await delay(HOLD_MS);
      for (const socket of sockets) socket.destroy();
    },
  },
  {
    name: 'sessions with large capabilities',
    run: async (target, scale) => {
      const experimental = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`e${index}`, { x: [{}] }]));
      const params = { ...INITIALIZE.params, capabilities: { experimental } };
      for (let sent = 0; sent < 1_000 * scale; sent += 10) {
        const posts = Array.from({ length: 10 }, () => post(target, { ...INITIALIZE, params }));
        await Promise.allSettled(posts);
      }
    },
  },
];
