/** The id of a JSON-RPC request, or a progress token. */
export type RequestId = string | number;
/** An object of JSON whose fields are not checked yet. */
export type Fields = Readonly<Record<string, unknown>>;

/** The first revision without a handshake: every request names its revision and the client's capabilities. */
export const MODERN_VERSION = '2026-07-28';
const VERSION = 'io.modelcontextprotocol/protocolVersion';
const CLIENT_INFO = 'io.modelcontextprotocol/clientInfo';
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
/** Fields of `_meta` that only the SDK interprets. */
const SDK_ONLY_META = /^io\.modelcontextprotocol\/(?:logLevel|related-task)$/;

/** A well-formed request that uses no feature that only the SDK implements. */
export interface PlainRequest {
  readonly id: RequestId;
  readonly method: string;
  readonly params: Fields;
  /** Whether it is a request of 2026-07-28, with everything that such a request must carry. */
  readonly modern: boolean;
  readonly progressToken: RequestId | undefined;
}

/**
 * Recognises a plain request. Undefined does not mean that a message is invalid: the SDK handles everything unusual,
 * including errors.
 */
export function plainRequest(message: unknown): PlainRequest | undefined {
  if (!isRecord(message)) return undefined;
  const { jsonrpc, id, method, params = NO_PARAMS } = message;
  if (jsonrpc !== '2.0' || typeof method !== 'string' || !isId(id) || !isRecord(params)) return undefined;
  if (!hasOnly(message, REQUEST_KEYS)) return undefined;
  const meta = params._meta;
  if (meta === undefined) return { id, method, params, modern: false, progressToken: undefined };
  if (!isRecord(meta)) return undefined;
  const { progressToken } = meta;
  if (progressToken !== undefined && !isId(progressToken)) return undefined;
  const era = eraOf(meta);
  return era === undefined ? undefined : { id, method, params, modern: era === 'modern', progressToken };
}

const NO_PARAMS: Fields = {};
/** The keys that a request may have. */
export const REQUEST_KEYS: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'params']);

function eraOf(meta: Fields): 'legacy' | 'modern' | undefined {
  for (const key in meta) if (SDK_ONLY_META.test(key)) return undefined;
  const { [VERSION]: version, [CAPABILITIES]: capabilities, [CLIENT_INFO]: info } = meta;
  if (version === undefined) return capabilities === undefined && info === undefined ? 'legacy' : undefined;
  const complete = version === MODERN_VERSION && plainCapabilities(capabilities);
  return complete && (info === undefined || isClientInfo(info)) ? 'modern' : undefined;
}

/**
 * Returns the name that the client of a 2026-07-28 request declares in it; undefined for other requests, or if it
 * declares none.
 */
export function declaredClientName({ params, modern }: PlainRequest): string | undefined {
  if (!modern) return undefined;
  const { _meta } = params as { _meta?: Record<string, Fields | undefined> };
  return clientNameOf(_meta?.[CLIENT_INFO]);
}

/** Returns the name in a `clientInfo`; undefined if it is not one. */
export function clientNameOf(info: unknown): string | undefined {
  return isRecord(info) && typeof info.name === 'string' ? info.name : undefined;
}

/** Reports whether the client of a 2026-07-28 request accepts sampling requests. */
export function canBeAsked({ params }: PlainRequest): boolean {
  const { _meta } = params as { _meta?: Record<string, Fields | undefined> };
  return _meta?.[CAPABILITIES]?.sampling !== undefined;
}

/** Reports whether a value may be the id of a request, or a progress token. */
export function isId(value: unknown): value is RequestId {
  return typeof value === 'string' || Number.isSafeInteger(value);
}

/** Reports whether an object has no fields other than the known ones. */
export function hasOnly(fields: Fields, known: ReadonlySet<string>): boolean {
  for (const key in fields) if (!known.has(key)) return false;
  return true;
}

/** Reports whether a value is an object of JSON: neither null nor an array. */
export function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Reports whether a value has the form of the protocol's `Implementation`, by which a client names itself. */
export function isClientInfo(value: unknown): boolean {
  if (!isRecord(value) || typeof value.name !== 'string' || typeof value.version !== 'string') return false;
  const { title, websiteUrl, description, icons } = value;
  return [title, websiteUrl, description].every(maybeText) && maybeListOf(icons, isIcon);
}

/**
 * Reports whether a client declares only capabilities that do not change how the fast path has to answer, in their
 * usual form.
 */
export function plainCapabilities(value: unknown): boolean {
  if (!isRecord(value)) return false;
  for (const key in value) if (!isPlainCapability(key, value[key])) return false;
  return true;
}

function isPlainCapability(key: string, value: unknown): boolean {
  if (!isRecord(value)) return false;
  switch (key) {
    case 'roots':
      return maybeFlag(value.listChanged);
    case 'elicitation':
      return holdsRecords(value) && (!isRecord(value.form) || maybeFlag(value.form.applyDefaults));
    case 'sampling':
    case 'experimental':
    case 'extensions':
      return holdsRecords(value);
    default:
      return false;
  }
}

function isIcon(value: unknown): boolean {
  if (!isRecord(value) || typeof value.src !== 'string') return false;
  const { mimeType, sizes, theme } = value;
  return (
    maybeText(mimeType) && maybeListOf(sizes, isText) && (theme === undefined || theme === 'light' || theme === 'dark')
  );
}

function holdsRecords(value: Fields): boolean {
  for (const key in value) if (!isRecord(value[key])) return false;
  return true;
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function maybeText(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}

function maybeFlag(value: unknown): boolean {
  return value === undefined || typeof value === 'boolean';
}

function maybeListOf(value: unknown, fits: (item: unknown) => boolean): boolean {
  return value === undefined || (Array.isArray(value) && value.every(fits));
}
