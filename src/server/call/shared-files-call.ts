import { setTimeout as later } from 'node:timers/promises';
import type { Sample } from '../../agent/sample.ts';
import { StoreUnavailable } from '../../cluster/shared-store.ts';
import type { CallRequest } from './running/call-request.ts';
import type { Service } from './service.ts';

/** How long a call may hold the files of its client against others. It takes milliseconds. */
const LEASE_MS = 2_000;
const RETRY_MS = 5;

/**
 * Runs a call that uses files that its client handed over to any replica. Before it runs, and after every answer of the
 * client, it gets what the other replicas have; what it got itself it hands on before it is answered. Calls with chunks
 * of files take turns, so that one of them sees that a file is complete.
 */
export async function withSharedFiles<T>(
  { agentFiles, store }: Pick<Service, 'agentFiles' | 'store'>,
  request: CallRequest,
  run: (request: CallRequest) => Promise<T>,
): Promise<T> {
  if (agentFiles === undefined || store === undefined) return run(request);
  const { sample } = request;
  const release = isChunk(request.args) ? await takeTurn(store, request.client.key) : undefined;
  try {
    await agentFiles.pull(request);
    const ask: Sample | undefined =
      sample &&
      (async (...question) => {
        const answer = await sample(...question);
        await agentFiles.pull(request);
        return answer;
      });
    return await run({ ...request, sample: ask && Object.assign(ask, { separate: sample?.separate }) });
  } finally {
    await agentFiles.push(request);
    await release?.();
  }
}

function isChunk(args: unknown): boolean {
  return typeof args === 'object' && args !== null && 'chunk' in args;
}

/** Waits until no other call holds the files of a client. Returns how to let others have them. */
async function takeTurn(
  store: NonNullable<Service['store']>,
  clientKey: string,
): Promise<(() => Promise<unknown>) | undefined> {
  const key = `agent files:${clientKey}`;
  const end = performance.now() + LEASE_MS;
  try {
    while (performance.now() < end) {
      const lease = await store.acquireLease(key, LEASE_MS);
      if (lease.granted) return () => store.releaseLease(key, lease.token).catch(() => {});
      await later(RETRY_MS);
    }
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
  }
  return undefined;
}
