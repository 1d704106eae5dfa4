/**
 * Characters that a terminal or a viewer acts on instead of showing them: controls, line separators, and marks that
 * change the direction of text ({@link https://www.unicode.org/reports/tr9/ UAX #9}), which can make one name look like
 * another.
 */
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
const EACH_UNPRINTABLE = new RegExp(UNPRINTABLE, 'g');

/**
 * Replaces characters that cannot be shown by `\uXXXX`. JSON stays JSON of the same value, except for white space
 * between its values.
 */
export function escapeUnprintable(text: string): string {
  if (!UNPRINTABLE.test(text)) return text;
  return text.replace(EACH_UNPRINTABLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/**
 * Returns a text as it is, or as a JSON string if it holds characters that cannot be shown, which would break up a
 * message.
 */
export function printable(text: string): string {
  const isPlain = !UNPRINTABLE.test(text) && text.isWellFormed();
  return isPlain ? text : escapeUnprintable(JSON.stringify(text));
}

/** Cuts a text to a number of characters, followed by an ellipsis if it is longer. Does not split a surrogate pair. */
export function shorten(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  const splits = last >= 0xd800 && last < 0xdc00;
  return `${text.slice(0, splits ? length - 1 : length)}…`;
}
