type Fields = Readonly<Record<string, unknown>>;

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
