const MAX_CHARACTERS = 80;

/** A wrong value as a message repeats it: on one line, and cut if it is long. */
export function showValue(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
  const line = /[\u0000-\u001f\u007f]/.test(text) ? JSON.stringify(text) : text;
  return line.length > MAX_CHARACTERS ? `${line.slice(0, MAX_CHARACTERS)}…` : line;
}
