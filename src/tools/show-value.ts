const MAX_CHARACTERS = 80;

/** Formats an invalid value for an error message: on one line and truncated. */
export function showValue(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
  return truncate(/[\u0000-\u001f\u007f]/.test(text) ? JSON.stringify(text) : text);
}

/** Truncates a text for an error message to 80 characters. */
export function truncate(text: string): string {
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
}
