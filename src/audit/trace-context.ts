/** The trace that a call belongs to, as its client says. */
export interface TraceContext {
  /** 32 hex digits. */
  readonly traceId: string;
  /** The client's span that made the call, 16 hex digits. */
  readonly spanId: string;
  /** What tracing systems added, as the client sent it; undefined if there is none in the right form. */
  readonly state: string | undefined;
}

/** Later versions may be longer, but what they begin with has this form. */
const TRACEPARENT = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}(-.*)?$/;
const MAX_TRACEPARENT = 256;
/** A list of `key=value`, of printable characters. */
const TRACESTATE = /^[ \t]*[a-z\d][\w*/@-]{0,255}=[\x20-\x7e]*$/;
/** The length up to which the standard asks systems to pass it on. */
const MAX_TRACESTATE = 512;

/**
 * Returns the trace that the `_meta` of a request names by `traceparent` and `tracestate`, the keys that
 * {@link https://modelcontextprotocol.io/seps/414 SEP-414} reserves for
 * {@link https://www.w3.org/TR/trace-context/ W3C Trace Context}. Undefined if there is none or its form is wrong: a
 * call never fails because of it.
 */
export function traceContextOf(meta: unknown): TraceContext | undefined {
  if (typeof meta !== 'object' || meta === null) return undefined;
  const { traceparent, tracestate } = meta as { readonly traceparent?: unknown; readonly tracestate?: unknown };
  if (typeof traceparent !== 'string' || traceparent.length > MAX_TRACEPARENT) return undefined;
  const [, version, traceId = '', spanId = '', more] = TRACEPARENT.exec(traceparent) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, state: isTraceState(tracestate) ? tracestate : undefined };
}

function isTraceState(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_TRACESTATE && TRACESTATE.test(value);
}
