import { spawn } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { freePort } from '../free-port.js';

/** An empty Redis on loopback: `{ url, close }`. Undefined if redis-server is not installed. */
export async function startRedis(folder) {
  const port = await freePort();
  const child = spawn('redis-server', ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--dir', folder], {
    stdio: 'ignore',
  });
  const exited = new Promise((resolve) => child.once('exit', resolve).once('error', () => resolve('missing')));
  if ((await Promise.race([exited, accepts(port)])) !== 'ready') return undefined;
  return {
    url: `redis://127.0.0.1:${port}`,
    async close() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

async function accepts(port) {
  for (let left = 200; left > 0; left -= 1) {
    const socket = net.connect(port, '127.0.0.1');
    const ready = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (ready) return 'ready';
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return 'silent';
}
