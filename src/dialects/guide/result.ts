import * as z from 'zod';
import type { FilesystemBridge } from '../../agent/bridge/filesystem-bridge.ts';
import type { ErrorType } from '../../agent/error-description.ts';
import type { CallContext } from '../../tools/tool.ts';

/** The state of the client's cache after the call. */
const stats = z.object({
  entries: z.int().describe('Files and listings'),
  listings: z.int(),
  bytes: z.int(),
  max_bytes: z.int(),
  hits: z.int(),
  misses: z.int(),
  updates: z.int(),
  evictions: z.int(),
  evicted_bytes: z.int(),
  invalidations: z.int(),
  chunk_sets: z.int().describe('Files of which chunks are missing'),
  chunk_bytes: z.int(),
});

type CacheStatsOutput = z.output<typeof stats>;

/** Returns the output schema of a tool: the contract's Result of a successful call, with `data`. */
export function resultOf<D extends z.ZodType>(data: D) {
  return z.object({
    success: z.literal(true),
    data,
    message: z.string(),
    warnings: z.array(z.string()).optional(),
    stats,
  });
}

interface Success<D> {
  /** The files that the call was about. */
  readonly bridge: FilesystemBridge;
  readonly data: D;
  readonly message: string;
  readonly warnings?: readonly string[];
}

const NOT_KEPT =
  'Nothing is kept after this call, since nothing tells this client from others: connect with a token, over stdio or in a session.';

/** Builds the Result of a successful call. With warnings, the message starts with "Partial success". */
export function success<D>(context: CallContext, { bridge, data, message, warnings: given = [] }: Success<D>) {
  const warnings = context.client.kind === 'anonymous' ? [...given, NOT_KEPT] : given;
  const noted = warnings.length > 0;
  return {
    success: true as const,
    data,
    message: noted
      ? `Partial success, see the warnings: ${message} Accept it as it is, or correct and call again.`
      : message,
    ...(noted && { warnings: [...warnings] }),
    stats: statsOf(bridge),
  };
}

/** What went wrong, in the contract's fields. */
export interface FailureFields {
  readonly error: string;
  readonly error_type: ErrorType;
  readonly instruction: string;
}

/** Formats the Result of a failed call as JSON text. */
export function failure(bridge: FilesystemBridge | undefined, fields: FailureFields): string {
  return JSON.stringify({ success: false, ...fields, stats: bridge === undefined ? {} : statsOf(bridge) });
}

function statsOf(bridge: FilesystemBridge): CacheStatsOutput {
  const { entries, listings, bytes, maxBytes, hits, misses, updates, ...rest } = bridge.stats();
  const { evictions, evictedBytes, invalidations, chunkSets, chunkBytes } = rest;
  return {
    entries,
    listings,
    bytes,
    max_bytes: maxBytes,
    hits,
    misses,
    updates,
    evictions,
    evicted_bytes: evictedBytes,
    invalidations,
    chunk_sets: chunkSets,
    chunk_bytes: chunkBytes,
  };
}
