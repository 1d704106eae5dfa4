import { isUtf8 } from 'node:buffer';
import { isLarge } from '../../tools/is-large.ts';

/** A shorter message cannot hold enough to matter, and is parsed at once. */
const SMALL_BYTES = 1024;
/**
 * The most values, names not counted, that the arguments of a tool may hold. Parsing and checking more takes over 50
 * ms.
 */
const MAX_VALUES = 60_000;
/** The most values of any other message, which the SDK checks against its schemas, and of a batch. */
const MAX_OTHER_VALUES = 2_000;
/** Functions that recurse as deep as a value is nested overflow the stack at a few thousand levels. */
const MAX_DEPTH = 200;
/** Looking through the fields of one object takes long from some ten thousand on, and no tool has so many. */
const MAX_FIELDS = 1_000;
const MAX_BATCH = 100;
/** The longest id, progress token and method. All of them are sent back. */
const MAX_NAME_LENGTH = 1_000;

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;

/** Thrown for a message that is not handled, with the JSON-RPC error to answer. */
export class RefusedMessage extends Error {
  readonly code: number;
  /** The id of the request, null if it is not known. */
  readonly id: unknown;

  constructor(code: number, message: string, id: unknown = null) {
    super(message);
    this.name = 'RefusedMessage';
    this.code = code;
    this.id = id;
  }
}

/**
 * Parses a JSON-RPC message or a batch of them, in UTF-8 with or without a byte order mark. What it holds is bounded
 * before it is parsed, because `JSON.parse` takes 50 times as long for 10 MB of `{}` as for one string of that length.
 * Raises `RefusedMessage`.
 */
export function parseMessage(bytes: Buffer): unknown {
  // Decoding would replace bytes that are not UTF-8 with U+FFFD, which a write would then store in a file.
  if (!isUtf8(bytes)) throw notJson();
  if (bytes.length <= SMALL_BYTES) return parse(bytes);
  const shape = shapeOf(bytes);
  const refuse = (problem: string): never => {
    throw new RefusedMessage(INVALID_REQUEST, `Invalid request: ${problem}`, idAt(bytes, shape.idAt));
  };
  if (shape.depth > MAX_DEPTH) refuse(`nested more than ${MAX_DEPTH} levels deep`);
  if (shape.values > MAX_VALUES) refuse(`more than ${MAX_VALUES} values`);
  if (shape.fields > MAX_FIELDS) refuse(`an object of more than ${MAX_FIELDS} fields`);
  const message = parse(bytes);
  const isCall = (message as { method?: unknown } | null)?.method === 'tools/call';
  if (!isCall && shape.values > MAX_OTHER_VALUES) refuse(`more than ${MAX_OTHER_VALUES} values`);
  if (isCall && isLarge(withoutArguments(message))) refuse('too many values besides the arguments');
  const batch = Array.isArray(message) ? message : [message];
  if (batch.length > MAX_BATCH) refuse(`more than ${MAX_BATCH} messages in a batch`);
  for (const each of batch) {
    const name = longName(each);
    if (name !== undefined) refuse(`the ${name} is longer than ${MAX_NAME_LENGTH} characters`);
  }
  return message;
}

/** Returns the params of a call that the SDK checks against its schemas. */
function withoutArguments(message: unknown): unknown {
  const { params } = message as { params?: object | null };
  return Array.isArray(params) ? params : { ...params, arguments: undefined };
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8', startsWithBom(bytes) ? 3 : 0));
  } catch {
    throw notJson();
  }
}

function notJson(): RefusedMessage {
  return new RefusedMessage(PARSE_ERROR, 'Parse error: not valid JSON in UTF-8');
}

/** Reports whether a message starts with a byte order mark, which is not part of the text. */
function startsWithBom(bytes: Buffer): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

/** Returns which of the values that answers repeat is too long. */
function longName(message: unknown): string | undefined {
  const { id, method, params } = (message ?? {}) as { id?: unknown; method?: unknown; params?: Params };
  if (isLong(id)) return 'id';
  if (isLong(method)) return 'method';
  return isLong(params?._meta?.progressToken) ? 'progress token' : undefined;
}

type Params = { readonly _meta?: { readonly progressToken?: unknown } | null } | null;

function isLong(value: unknown): boolean {
  return typeof value === 'string' && value.length > MAX_NAME_LENGTH;
}

interface Shape {
  /** An upper bound of the number of values. */
  readonly values: number;
  readonly depth: number;
  /** The most fields of one object. */
  readonly fields: number;
  /** The offset after the name `id` of the message itself, -1 if it has none. */
  readonly idAt: number;
}

const [QUOTE, BACKSLASH, COMMA, COLON, SPACE] = [0x22, 0x5c, 0x2c, 0x3a, 0x20];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];
const [LOWER_I, LOWER_D] = [0x69, 0x64];

/** Where the count of a list begins, so that it never exceeds that of an object. */
const LIST = -(2 ** 30);

/**
 * Counts what a JSON text holds without parsing it, in time linear in its length, until it is too much and the id is
 * known. Its result for other texts has no meaning.
 */
function shapeOf(bytes: Buffer): Shape {
  let [values, depth, deepest, fields, idAt] = [1, 0, 0, 0, -1];
  /**
   * The fields of the object at each depth so far, too few for a list. What is deeper than the limit does not count.
   */
  const counts = new Int32Array(MAX_DEPTH + 1);
  for (let at = 0; at < bytes.length && (values <= MAX_VALUES || idAt === -1); at += 1) {
    switch (bytes[at]) {
      case QUOTE:
        if (depth === 1 && isIdName(bytes, at)) idAt = at + 4;
        at = endOfString(bytes, at + 1);
        break;
      case COMMA: {
        values += 1;
        const count = (counts[depth] ?? 0) + 1;
        counts[depth] = count;
        if (count > fields) fields = count;
        break;
      }
      case OPEN_BRACE:
      case OPEN_BRACKET:
        values += 1;
        depth += 1;
        counts[depth] = bytes[at] === OPEN_BRACE ? 1 : LIST;
        if (depth > deepest) deepest = depth;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth -= 1;
        break;
      default:
    }
  }
  return { values, depth: deepest, fields, idAt };
}

/** Reports whether `"id"` and a colon, at most one space between them, start at an offset. */
function isIdName(bytes: Buffer, at: number): boolean {
  const isId = bytes[at + 1] === LOWER_I && bytes[at + 2] === LOWER_D && bytes[at + 3] === QUOTE;
  return isId && (bytes[at + 4] === COLON || (bytes[at + 4] === SPACE && bytes[at + 5] === COLON));
}

/** How many bytes of a string are looked at one by one, since a call of `indexOf` costs as much as so many. */
const STEPS = 64;

/** Returns the offset of the quote that ends a string, or the length of the text. */
function endOfString(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length) {
    const stop = Math.min(at + STEPS, bytes.length);
    for (; at < stop; at += 1) {
      if (bytes[at] === QUOTE) return at;
      if (bytes[at] === BACKSLASH) at += 1;
    }
    const quote = bytes.indexOf(QUOTE, at);
    if (quote === -1) break;
    let first = quote;
    while (first > at && bytes[first - 1] === BACKSLASH) first -= 1;
    // After an even number of backslashes, each of which escapes another, the quote is not escaped.
    if ((quote - first) % 2 === 0) return quote;
    at = quote + 1;
  }
  return bytes.length;
}

/** Returns the id that stands at an offset of a text, null if it is not a plain one. */
function idAt(bytes: Buffer, offset: number): unknown {
  if (offset === -1) return null;
  const [, id] =
    /^\s*:\s*(-?\d{1,15}|"[^"\\]{0,1000}")\s*[,}]/.exec(bytes.toString('utf8', offset, offset + 4096)) ?? [];
  return id === undefined ? null : JSON.parse(id);
}
