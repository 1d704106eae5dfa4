const MAX_CHARACTERS = 80;

/** A wrong value as a message repeats it: on one line, and cut if it is long. */
export function showValue(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
  return cut(/[\u0000-\u001f\u007f]/.test(text) ? JSON.stringify(text) : text);
}

/** What of a text a message repeats. */
export function cut(text: string): string {
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
}
