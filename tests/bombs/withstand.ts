import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DialectName } from '../support/dialect-contracts.ts';
import { BombedHttpServer, BombedStdioServer, type Impact } from './bombed-server.ts';
import type { Throw } from './bombs.ts';

const MAX_ERROR_BYTES = 64 * 1024;

/** Tests that one server with all dialects withstands bombs over HTTP, and prints the figures. */
export function withstandOverHttp(throws: readonly Throw[], maxHeldMs: number): void {
  let server: BombedHttpServer;
  beforeAll(async () => {
    server = await BombedHttpServer.start();
  });
  afterAll(() => server[Symbol.asyncDispose]());
  test.each(throws.filter(({ bomb }) => !bomb.lines).map((each) => ({ ...each, name: each.bomb.name })))(
    '$dialect over HTTP: $name',
    async (each) => withstands(each, await server.throwBomb(each.bomb, each.dialect), maxHeldMs),
  );
  test('there was no internal error', () => expectNoBug(server));
}

/** Tests that a server of each dialect withstands bombs over stdio, and prints the figures. */
export function withstandOverStdio(throws: readonly Throw[], maxHeldMs: number): void {
  const servers = new Map<DialectName, BombedStdioServer>();
  beforeAll(async () => {
    for (const { dialect } of throws) {
      if (!servers.has(dialect)) servers.set(dialect, await BombedStdioServer.start(dialect));
    }
  });
  afterAll(async () => {
    for (const server of servers.values()) await server[Symbol.asyncDispose]();
  });
  test.each(throws.map((each) => ({ ...each, name: each.bomb.name })))('$dialect over stdio: $name', async (each) => {
    const server = servers.get(each.dialect) as BombedStdioServer;
    withstands(each, await server.throwBomb(each.bomb, each.dialect), maxHeldMs);
  });
  test('there was no internal error', () => {
    for (const server of servers.values()) expectNoBug(server);
  });
}

function withstands({ bomb, dialect }: Throw, impact: Impact, maxHeldMs: number): void {
  const { answer, answerBytes, heldMs, heldCpuMs, healthMs } = impact;
  const health = healthMs === undefined ? '' : `, /health ${Math.round(healthMs)} ms`;
  console.log(`${dialect}, ${bomb.name}: held for ${heldMs} ms, ${heldCpuMs} ms of CPU${health}`);
  for (const { result, error } of Array.isArray(answer) ? answer : [answer]) {
    const failure = error ?? (result.isError ? result.content : undefined);
    if (failure === undefined) {
      expect(bomb.succeeds, JSON.stringify(result).slice(0, 500)).toBe(true);
      continue;
    }
    expect(JSON.stringify(failure)).not.toMatch(/internal|RangeError|stack/i);
    expect([undefined, -32600, -32601, -32602, -32700]).toContain(error?.code);
    expect(answerBytes).toBeLessThan(MAX_ERROR_BYTES);
  }
  expect(heldCpuMs).toBeLessThan(maxHeldMs);
}

function expectNoBug(server: BombedHttpServer | BombedStdioServer): void {
  expect(server.logs().filter(({ level }) => level === 'error')).toEqual([]);
}
