import { linePrefix } from './numbered-lines.ts';

const BACKSLASH = 0x5c;
/** Those of most files, made once. A prefix ends in a tab, which is all that is to be escaped. */
const PREFIXES = Array.from({ length: 1000 }, (_, number) => escapedPrefix(number));

/** A text in JSON, between its quotes, and by how many bytes the text itself is longer than the one it was made of. */
export interface NumberedJson {
  readonly json: string;
  readonly added: number;
}

/**
 * What `numberedLines` makes of a text that is not empty, all in JSON: a text goes out as it is and with numbers, and to
 * escape it costs more than all else about it, so that is done once. Takes the JSON between its quotes.
 */
export function numberedJson(text: string, first: number): NumberedJson {
  let number = first;
  let json = PREFIXES[number] ?? escapedPrefix(number);
  let added = json.length - 1;
  let from = 0;
  for (let at = lineEnd(text, 0); at !== -1; at = lineEnd(text, from)) {
    const next = at + 2;
    if (next === text.length) return { json: json + text.slice(from, at), added: added - 1 };
    number += 1;
    const prefix = PREFIXES[number] ?? escapedPrefix(number);
    json += text.slice(from, next) + prefix;
    added += prefix.length - 1;
    from = next;
  }
  return { json: json + text.slice(from), added };
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
