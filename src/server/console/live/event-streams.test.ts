import { once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import type { CallEvent } from '../../../audit/record-call.ts';
import type { Config } from '../../../config/config.ts';
import { RunningCalls } from '../../call/running/running-calls.ts';
import { Viewers } from '../model/viewers.ts';
import { ApprovalQueue } from './approval-queue.ts';
import { CallRecorder } from './call-recorder.ts';
import { EventStreams } from './event-streams.ts';
import { RunningList } from './running-list.ts';

const token = { name: 'operator', sha256: Buffer.alloc(32), roots: ['code'], console: true };
const config = { roots: [{ name: 'code' }], auth: { tokens: [token] } } as unknown as Config;
const CALL: CallEvent = {
  ...{ tool: 'read_file', dialect: 'workspace', client: { key: 'x', kind: 'principal', name: 'operator' } },
  ...{ root: 'code', path: 'p'.repeat(400), about: {}, durationMs: 1, responseBytes: 1, failure: undefined },
};

afterEach(() => void vi.useRealTimers());

test.each([
  ['whose person signs out', 'signs out'],
  ['that the server ends itself', 'ended'],
])('a stream that nobody reads, and %s, is closed and stops nothing else', async (_, how) => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] });
  const viewers = new Viewers(config);
  const recorder = new CallRecorder(viewers);
  const running = new RunningList(new RunningCalls());
  const streams = new EventStreams({ recorder, running, approvals: new ApprovalQueue(viewers) });
  let isSignedIn = true;
  const responses: http.ServerResponse[] = [];
  const failed = vi.fn();
  const server = http.createServer((request, response) => {
    responses.push(response.on('error', failed));
    streams.open(request, response, () => (isSignedIn ? viewers.all[0] : undefined));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const reader = net.connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
  reader.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await vi.waitFor(() => expect(responses).toHaveLength(1));
  const [response] = responses as [http.ServerResponse];
  for (let batches = 0; !response.writableNeedDrain; batches += 1) {
    if (batches > 50) expect.fail('the reader takes everything');
    for (let call = 0; call < 5_000; call += 1) recorder.observe(CALL);
    await vi.advanceTimersByTimeAsync(1_000);
    await sleep(20);
  }
  if (how === 'ended') response.end();
  isSignedIn = how === 'ended';
  for (let second = 0; second < 90; second += 1) {
    recorder.observe(CALL);
    await vi.advanceTimersByTimeAsync(1_000);
  }
  await sleep(20);
  expect(failed).not.toHaveBeenCalled();
  expect(response.destroyed).toBe(true);
  streams.close();
  reader.destroy();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
