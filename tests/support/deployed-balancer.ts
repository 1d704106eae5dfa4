import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Balancer, type BalancerProgram } from './balancer.ts';
import { freePort } from './free-port.ts';

const DEPLOY = fileURLToPath(new URL('../../deploy/', import.meta.url));

/** Returns the config of deploy/ for a port and replicas of this machine. Everything else is as it is there. */
export function configOf(name: BalancerProgram, port: number, replicas: readonly number[]): string {
  const file = { haproxy: 'haproxy.cfg', nginx: 'nginx.conf' }[name];
  const text = fs.readFileSync(path.join(DEPLOY, file), 'utf8');
  const replaced = (from: RegExp, to: (found: string) => string): ((text: string) => string) => {
    return (before) => {
      if (!from.test(before)) throw new Error(`deploy/${file} has no ${from}`);
      return before.replace(from, to);
    };
  };
  if (name === 'haproxy') {
    const servers = replicas.map((at, number) => `  server replica${number} 127.0.0.1:${at}`).join('\n');
    return replaced(
      /^ {2}server-template .*$/m,
      () => servers,
    )(replaced(/^ {2}bind :8080$/m, () => `  bind 127.0.0.1:${port}`)(text));
  }
  return replaced(/^ *server ringfence:8091(.*);$/m, (line) =>
    replicas.map((at) => line.replace('ringfence:8091', `127.0.0.1:${at}`)).join('\n'),
  )(replaced(/listen 8080;/, () => `listen 127.0.0.1:${port};`)(text));
}

/** Starts a balancer of replicas, given by their ports. Resolves once it hands requests to all of them. */
export async function startDeployedBalancer(name: BalancerProgram, replicas: readonly number[]): Promise<Balancer> {
  const port = await freePort();
  const balancer = await Balancer.start({ program: name, port, config: configOf(name, port, replicas) });
  // HAProxy begins with all servers and has asked each of them after a second.
  if (name === 'haproxy') await later(1_500);
  return balancer;
}

/** Takes a replica out of the config of nginx, as an operator does, and resolves once it gets no more requests. */
export async function leaveOut(balancer: Balancer, replica: number): Promise<void> {
  balancer.reload((config) => config.replace(new RegExp(`(127.0.0.1:${replica}) .*;`), '$1 down;'));
  await later(1_000);
}
