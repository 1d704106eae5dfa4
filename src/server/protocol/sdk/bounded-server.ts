import {
  type JSONRPCRequest,
  ProtocolError,
  ProtocolErrorCode,
  type Result,
  Server,
  type ServerContext,
  type Transport,
} from '@modelcontextprotocol/server';
import { escapeUnprintable, shorten } from '../../../runtime/printable.ts';

/** How many characters of a message, or of a value in its data, an error has at most. */
const MAX_LENGTH = 1_000;

type Handler = (request: JSONRPCRequest, context: ServerContext) => Promise<Result>;

/**
 * The SDK's server, but with short errors, and it says when its connection ends. Params that do not match the protocol's schema are answered with -32602 and
 * the first mismatch, where the SDK sends -32603 and all of them; what a request is repeated from is shortened; and the
 * message of a bug is not sent.
 */
export class BoundedServer extends Server {
  /** Called when the server is connected; what it returns, when the connection has ended. */
  onconnected: (() => (() => void) | undefined) | undefined;

  override async connect(transport: Transport): Promise<void> {
    await super.connect(transport);
    const ended = this.onconnected?.();
    if (ended === undefined) return;
    const { onclose } = transport;
    transport.onclose = () => {
      ended();
      onclose?.();
    };
  }

  protected override _wrapHandler(method: string, handler: Handler): Handler {
    const wrapped = super._wrapHandler(method, handler);
    return async (request, context) => {
      try {
        return await wrapped(request, context);
      } catch (thrown) {
        throw shortError(method, thrown);
      }
    };
  }
}

function shortError(method: string, thrown: unknown): ProtocolError {
  const { code, message, data } = thrown as Partial<ProtocolError>;
  const mismatch = firstMismatch(message ?? '');
  if (mismatch !== undefined)
    return protocolError(ProtocolErrorCode.InvalidParams, `Invalid params for ${method}: ${mismatch}`);
  if (code === undefined || !Number.isSafeInteger(code)) {
    return new ProtocolError(ProtocolErrorCode.InternalError, 'Internal error');
  }
  return protocolError(code, message ?? '', data);
}

function protocolError(code: number, message: string, data?: unknown): ProtocolError {
  const { uri } = (data ?? {}) as { uri?: unknown };
  const short = typeof uri === 'string' ? { ...(data as object), uri: shorten(uri, MAX_LENGTH) } : data;
  return new ProtocolError(code, escapeUnprintable(shorten(message, MAX_LENGTH)), short);
}

/**
 * Returns the first issue in a message that is, or ends in, a list of zod's issues as JSON; undefined for any other
 * message.
 */
function firstMismatch(message: string): string | undefined {
  const start = message.indexOf('[\n');
  if (start === -1) return undefined;
  try {
    const [issue] = JSON.parse(message.slice(start));
    return `${issue.path.join('.')}: ${issue.message}`;
  } catch {
    return undefined;
  }
}
