import type { ServerContext } from '@modelcontextprotocol/server';

const INTERVAL_MS = 100;

type Report = (done: number, total?: number) => void;

/** Reports progress to a client that asked for it, about ten times a second, always upwards; does nothing for others. */
export function progressOf({ mcpReq }: ServerContext): Report {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return () => {};
  let next = 0;
  let last = -1;
  return (progress, total) => {
    const now = performance.now();
    if (now < next || progress <= last) return;
    next = now + INTERVAL_MS;
    last = progress;
    const params = { progressToken, progress, ...(total !== undefined && { total }) };
    // A client that went away is noticed by the call's signal, not here.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
  };
}
