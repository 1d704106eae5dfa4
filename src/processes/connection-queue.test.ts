import { once } from 'node:events';
import net, { type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { ConnectionQueue } from './connection-queue.ts';

test('a connection that comes back after the end is closed', async () => {
  const handed: Socket[] = [];
  const handOver = (socket: Socket) => void handed.push(socket);
  const queue = new ConnectionQueue(() => [{ isFree: handed.length === 0, connections: 0, handedOver: 0, handOver }]);
  const client = net.connect(await queue.listen('127.0.0.1', 0), '127.0.0.1');
  const closed = once(client, 'close');
  await expect.poll(() => handed.length).toBe(1);
  queue.close();
  queue.takeBack(handed[0] as Socket);
  client.resume();
  await closed;
});
