import { linePrefix } from './numbered-lines.ts';

const BACKSLASH = 0x5c;
const THOUSANDS = 1000;
/** Those of most files, made once. A prefix ends in a tab, which is all that is to be escaped. */
const PREFIXES = Array.from({ length: THOUSANDS }, (_, number) => escapedPrefix(number));
/** How a prefix ends after its thousands. */
const ENDINGS = Array.from({ length: THOUSANDS }, (_, rest) => `${String(rest).padStart(3, '0')}\\t`);
const ENDING_LENGTH = 5;

/** A text in JSON, between its quotes. */
export interface NumberedJson {
  readonly json: string;
  /** By how many bytes the text itself is longer than the one it was made of. */
  readonly added: number;
  /** The number of its last line. */
  readonly last: number;
}

/**
 * What `numberedLines` makes of a text that is not empty, all in JSON: a text goes out as it is and with numbers, and to
 * escape it costs more than all else about it, so that is done once. Takes the JSON between its quotes.
 */
export function numberedJson(text: string, first: number): NumberedJson {
  let number = first;
  const prefixOf = prefixes();
  let json = prefixOf(number);
  let added = json.length - 1;
  let from = 0;
  for (let at = lineEnd(text, 0); at !== -1; at = lineEnd(text, from)) {
    const next = at + 2;
    if (next === text.length) return { json: json + text.slice(from, at), added: added - 1, last: number };
    number += 1;
    const prefix = prefixOf(number);
    json += text.slice(from, next) + prefix;
    added += prefix.length - 1;
    from = next;
  }
  return { json: json + text.slice(from), added, last: number };
}

/** Makes prefixes one after another. Those of a thousand lines begin alike. */
function prefixes(): (number: number) => string {
  let thousands = 0;
  let start = '';
  return (number) => {
    if (number < THOUSANDS) return PREFIXES[number] as string;
    const wanted = Math.floor(number / THOUSANDS);
    if (wanted !== thousands) {
      thousands = wanted;
      start = escapedPrefix(wanted * THOUSANDS).slice(0, -ENDING_LENGTH);
    }
    return start + ENDINGS[number % THOUSANDS];
  };
}

/** Where the next `\n` stands. One whose backslash is itself escaped is no line end: `\\n` is a backslash and an n. */
function lineEnd(json: string, from: number): number {
  for (let at = json.indexOf('\\n', from); at !== -1; at = json.indexOf('\\n', at + 1)) {
    let start = at;
    while (start > from && json.charCodeAt(start - 1) === BACKSLASH) start -= 1;
    if ((at - start) % 2 === 0) return at;
  }
  return -1;
}

function escapedPrefix(number: number): string {
  return `${linePrefix(number).slice(0, -1)}\\t`;
}
