export type RequestId = string | number;
export type Fields = Readonly<Record<string, unknown>>;

/** The one revision that clients name in each request. */
export const MODERN_VERSION = '2026-07-28';
const VERSION = 'io.modelcontextprotocol/protocolVersion';
const CLIENT_INFO = 'io.modelcontextprotocol/clientInfo';
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
/** Says something to the SDK that is not looked into here. */
const FOR_THE_SDK = /^io\.modelcontextprotocol\/(?:logLevel|related-task)$/;

/** A request in which there is nothing that only the SDK knows how to treat. */
export interface PlainRequest {
  readonly id: RequestId;
  readonly method: string;
  readonly params: Fields;
  /** It is one of 2026-07-28, and says all that such a request has to. */
  readonly modern: boolean;
  readonly progressToken: RequestId | undefined;
}

/** Recognises a plain request. Undefined is no verdict: whatever is unusual, also if it is wrong, is for the SDK to answer. */
export function plainRequest(message: unknown): PlainRequest | undefined {
  if (!isRecord(message)) return undefined;
  const { jsonrpc, id, method, params = NO_PARAMS } = message;
  if (jsonrpc !== '2.0' || typeof method !== 'string' || !isId(id) || !isRecord(params)) return undefined;
  if (!hasOnly(message, MESSAGE_KEYS)) return undefined;
  const meta = params._meta;
  if (meta === undefined) return { id, method, params, modern: false, progressToken: undefined };
  if (!isRecord(meta)) return undefined;
  const { progressToken } = meta;
  if (progressToken !== undefined && !isId(progressToken)) return undefined;
  const era = eraOf(meta);
  return era === undefined ? undefined : { id, method, params, modern: era === 'modern', progressToken };
}

const NO_PARAMS: Fields = {};
const MESSAGE_KEYS: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'params']);

function eraOf(meta: Fields): 'legacy' | 'modern' | undefined {
  for (const key in meta) if (FOR_THE_SDK.test(key)) return undefined;
  const { [VERSION]: version, [CAPABILITIES]: capabilities, [CLIENT_INFO]: info } = meta;
  if (version === undefined) return capabilities === undefined && info === undefined ? 'legacy' : undefined;
  const complete = version === MODERN_VERSION && plainCapabilities(capabilities);
  return complete && (info === undefined || isClientInfo(info)) ? 'modern' : undefined;
}

/** Whether the client of a request of 2026-07-28 can be asked something before it gets its answer. */
export function canBeAsked({ params }: PlainRequest): boolean {
  const { _meta } = params as { _meta?: Record<string, Fields | undefined> };
  return _meta?.[CAPABILITIES]?.sampling !== undefined;
}

/** What a client may call a request, and by what name it asks for progress. */
function isId(value: unknown): value is RequestId {
  return typeof value === 'string' || Number.isSafeInteger(value);
}

/** Whether a message or its params hold nothing but what is known here. */
export function hasOnly(fields: Fields, known: ReadonlySet<string>): boolean {
  for (const key in fields) if (!known.has(key)) return false;
  return true;
}

export function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a client introduces itself in the form that the protocol asks for. */
export function isClientInfo(value: unknown): boolean {
  if (!isRecord(value) || typeof value.name !== 'string' || typeof value.version !== 'string') return false;
  const { title, websiteUrl, description, icons } = value;
  return [title, websiteUrl, description].every(maybeText) && maybeListOf(icons, isIcon);
}

/** Whether a client declares its capabilities in a form that needs no second look. */
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
