import type { ReadRange } from '../../files/read/read-file.ts';
import { lengthIn, type NextArguments, nextLine, type ResultForm } from '../../tools/result-form.ts';
import { byteLengthOf, type PartContent, type ReadPart } from './file-content.ts';
import { charsAsJson, charsThatFit, cutAtLine, cutText, readerLines } from './reader-lines.ts';

/** What a client gets to see of a part of a file. */
export interface ReadView {
  /** The content, or for a client that is served text alone, the text that its model reads. */
  readonly content: string;
  /** Whether the content was cut to the client's limit. */
  readonly cut?: boolean;
  readonly next?: NextArguments;
}

interface ViewOptions {
  readonly part: ReadPart;
  readonly range: ReadRange;
  readonly form: ResultForm;
}

/** A content after it was cut, and which part of the file it is. */
interface Cut {
  readonly content: string;
  readonly cut: boolean;
  /** Like `lines 1-20 of 900`. */
  readonly span: string;
  /** How to read on from its end; undefined where the arguments of a call cannot say that. */
  readonly next: NextArguments | undefined;
}

/**
 * Cuts a content to the client's limit, at a line or else at a character, and says how to get the rest. As text, lines
 * are numbered, and a last line in brackets says what there is besides.
 */
export function viewOf(found: PartContent, { part, range, form }: ViewOptions): ReadView {
  const isLines = range.by !== 'bytes' && found.encoding !== 'base64';
  const { content, cut, span, next } = isLines
    ? viewLines(found, { part, range, form })
    : viewBytes(found, { part, range, form });
  if (form.mode !== 'text') return { content, cut, ...(cut && next !== undefined && { next }) };
  const more = cut || part.truncated;
  const last = lastLine({ found, part, span, next: more ? next : undefined, more });
  return { content: [content, last].filter((text) => text !== '').join('\n'), cut };
}

function viewLines(found: PartContent, { part, range, form }: ViewOptions): Cut {
  const { mode, maxChars } = form;
  const { content: all, encoding, start } = found;
  const first = part.firstLine ?? (range.by === 'lines' ? range.offset : 1);
  const { content, lines, cut } =
    mode === 'text'
      ? asReaderLines(all, {
          first,
          maxChars: maxChars ?? Number.POSITIVE_INFINITY,
          lengthOf: lengthIn(form),
          start,
          capped: part.capped === true,
          byteLength: (text) => byteLengthOf(text, encoding),
        })
      : asLines(all, maxChars);
  const to = first + lines - 1;
  const limit = range.by === 'lines' ? range.limit : undefined;
  const left = limit === undefined ? 0 : limit - lines;
  return {
    content,
    cut,
    span: `lines ${first < 0 ? `${first} to ${to}` : `${first}-${to}`}${part.linesTotal ? ` of ${part.linesTotal}` : ''}`,
    next: { offset_lines: to + 1, ...(cut && left > 0 && { limit_lines: left }) },
  };
}

function asReaderLines(all: string, options: Parameters<typeof readerLines>[1]) {
  const { text, lines, more } = readerLines(all, options);
  return { content: text, lines, cut: more };
}

function asLines(all: string, maxChars: number | undefined) {
  const found = maxChars === undefined ? undefined : cutAtLine(all, charsAsJson(all, maxChars));
  return found === undefined ? { content: all, lines: 0, cut: false } : { ...found, cut: true };
}

function viewBytes(found: PartContent, { part, range, form }: ViewOptions): Cut {
  const { content: all, encoding, start } = found;
  const { mode, maxChars } = form;
  const fittingIn = (max: number): number =>
    mode === 'text' ? charsThatFit(all, max, lengthIn(form)) : charsAsJson(all, max);
  const fitting = maxChars === undefined ? undefined : fittingIn(maxChars);
  const content = fitting === undefined ? all : encoding === 'base64' ? cutBase64(all, fitting) : cutText(all, fitting);
  const bytes = content === all ? found.bytes.length : byteLengthOf(content, encoding);
  const limit = range.by === 'bytes' ? range.limit : undefined;
  const left = limit === undefined ? 0 : limit - bytes;
  const cut = content.length < all.length;
  return {
    content,
    cut,
    span: `bytes ${start}-${start + bytes - 1} of ${part.size}`,
    // A range of lines cannot be continued by one of bytes: a call must not have both.
    next:
      range.by === 'lines' ? undefined : { offset_bytes: start + bytes, ...(cut && left > 0 && { limit_bytes: left }) },
  };
}

/** Cuts between groups of four characters, which stand for three bytes. */
function cutBase64(content: string, maxChars: number): string {
  return content.slice(0, Math.max(4, maxChars - (maxChars % 4)));
}

interface LastLine extends Pick<Cut, 'span' | 'next'> {
  readonly found: PartContent;
  readonly part: ViewOptions['part'];
  readonly more: boolean;
}

function lastLine({ found, part, span, next, more }: LastLine): string {
  const isBase64 = found.encoding === 'base64';
  const what =
    found.content === ''
      ? [part.size === 0 ? 'empty file' : `nothing there; ${extentOf(part)}`]
      : [...(more || isBase64 ? [span] : []), ...(isBase64 ? ['base64'] : [])];
  const facts = [...what, ...(part.version === undefined ? [] : [`version ${part.version}`])].join(', ');
  if (next !== undefined) return nextLine(next, facts);
  return facts === '' ? '' : `[${facts}]`;
}

function extentOf({ linesTotal, size }: ViewOptions['part']): string {
  return linesTotal === undefined ? `the file has ${size} bytes` : `the file has ${linesTotal} lines`;
}
