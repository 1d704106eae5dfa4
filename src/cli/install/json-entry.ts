import {
  applyEdits,
  createScanner,
  type Edit,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser';
import { EntryError } from './entry-error.ts';

/** Kinds of tokens, from `SyntaxKind`, which is no value at run time. */
const COMMA = 5;
const LINE_BREAK = 14;
/** Comments and white space. */
const SKIPPED: readonly number[] = [12, 13, 15];

type Entry = Readonly<Record<string, unknown>>;

/** Where an entry stands: in the table of a key, under a name. */
export interface EntryPlace {
  readonly key: string;
  readonly name: string;
}

/** Returns the entry in a JSON text, comments allowed; undefined if there is none. Raises `EntryError`. */
export function jsonEntry(text: string, { key, name }: EntryPlace): unknown {
  if (text.trim() === '') return undefined;
  const servers = propertyOf(parse(text), key, '');
  const entry = servers && propertyOf(servers, name, key);
  return entry && getNodeValue(entry);
}

/**
 * Returns a JSON text with an entry. A new one becomes the first of its table, so that every other line stays as it is.
 * Of one that is there, only the values that differ are replaced. Raises `EntryError`.
 */
export function withJsonEntry(text: string, place: EntryPlace, entry: Entry): string {
  const { key, name } = place;
  if (text.trim() === '') return `${JSON.stringify({ [key]: { [name]: entry } }, null, 2)}\n`;
  const top = parse(text);
  const servers = propertyOf(top, key, '');
  if (servers === undefined) return insertFirst(text, top, key, { [name]: entry });
  const old = propertyOf(servers, name, key);
  if (old === undefined) return insertFirst(text, servers, name, entry);
  if (old.type !== 'object') throw new EntryError(`${key}.${name} is not an object`);
  return replaceValues(text, place, entry);
}

/** Returns a JSON text without an entry; also without its table if `dropTable` is set and nothing else is in it. */
export function withoutJsonEntry(text: string, { key, name }: EntryPlace, dropTable: boolean): string {
  const servers = propertyOf(parse(text), key, '');
  const entry = servers && propertyOf(servers, name, key);
  if (servers === undefined || entry === undefined) return text;
  return removeProperty(text, dropTable && servers.children?.length === 1 ? servers : entry);
}

function parse(text: string): Node {
  const errors: ParseError[] = [];
  const top = parseTree(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error !== undefined) {
    const line = text.slice(0, error.offset).split('\n').length;
    // The parser names its errors like `ValueExpected`.
    const reason = printParseErrorCode(error.error)
      .replace(/(?<=.)[A-Z]/g, ' $&')
      .toLowerCase();
    throw new EntryError(`it is not valid JSON: ${reason} in line ${line}`);
  }
  if (top?.type !== 'object') throw new EntryError('it holds no JSON object');
  return top;
}

/** Returns the value of a property of an object. Raises `EntryError` if that is no object or has a key twice. */
function propertyOf(object: Node, key: string, where: string): Node | undefined {
  if (object.type !== 'object') throw new EntryError(`${where} is not an object`);
  const keys = (object.children ?? []).map((property) => String(property.children?.[0]?.value));
  const twice = keys.find((one, index) => keys.indexOf(one) !== index);
  if (twice !== undefined) throw new EntryError(`the key ${JSON.stringify(twice)} stands in it twice`);
  const value = object.children?.[keys.indexOf(key)]?.children?.[1];
  if (value !== undefined && where === '' && value.type !== 'object') throw new EntryError(`${key} is not an object`);
  return value;
}

function replaceValues(text: string, place: EntryPlace, entry: Entry): string {
  let now = text;
  const nodeNow = (): Node => {
    const servers = propertyOf(parse(now), place.key, '') as Node;
    return propertyOf(servers, place.name, place.key) as Node;
  };
  const old = getNodeValue(nodeNow()) as Record<string, unknown>;
  // It was started in another way, so the rest of it is about that.
  if (old.command === undefined) {
    const node = nodeNow();
    const style = styleOf(text);
    return replace(now, node, stringify(entry, style.eol, style.indentOf(node), style.unit));
  }
  for (const [key, value] of Object.entries(entry).reverse()) {
    const object = nodeNow();
    const node = propertyOf(object, key, place.name);
    if (node === undefined) now = insertFirst(now, object, key, value);
    else if (JSON.stringify(getNodeValue(node)) !== JSON.stringify(value)) {
      const style = styleOf(now);
      now = replace(now, node, stringify(value, style.eol, style.indentOf(node), style.unit));
    }
  }
  return now;
}

function replace(text: string, { offset, length }: Node, content: string): string {
  return applyEdits(text, [{ offset, length, content }]);
}

/** Inserts a property ahead of all others of an object, on lines of its own unless the object stands on one line. */
function insertFirst(text: string, object: Node, key: string, value: unknown): string {
  const style = styleOf(text);
  const isEmpty = (object.children ?? []).length === 0;
  const open = object.offset + 1;
  const line = firstLineBreak(text, open);
  if (line !== undefined) {
    const [first] = object.children ?? [];
    const indent =
      first && startsLine(text, first.offset) ? style.indentOf(first) : style.indentOf(object) + style.unit;
    const property = `${indent}${JSON.stringify(key)}: ${stringify(value, style.eol, indent, style.unit)}`;
    return applyEdits(text, [{ offset: line, length: 0, content: `${property}${isEmpty ? '' : ','}${style.eol}` }]);
  }
  if (
    isEmpty &&
    text.slice(open, object.offset + object.length - 1).trim() === '' &&
    (text.includes('\n') || text.trim() === '{}')
  ) {
    const outer = style.indentOf(object);
    const indent = outer + style.unit;
    const property = `${indent}${JSON.stringify(key)}: ${stringify(value, style.eol, indent, style.unit)}`;
    const content = `{${style.eol}${property}${style.eol}${outer}}`;
    return replace(text, object, content);
  }
  const space = text[open] === ' ' ? ' ' : '';
  const content = `${space}${JSON.stringify(key)}:${space}${JSON.stringify(value)}${isEmpty ? '' : ','}`;
  return applyEdits(text, [{ offset: open, length: 0, content }]);
}

/** Returns where the line after an opening brace begins; undefined if something other than comments follows on its line. */
function firstLineBreak(text: string, open: number): number | undefined {
  const scanner = createScanner(text, false);
  scanner.setPosition(open);
  for (;;) {
    const kind = scanner.scan();
    if (kind === LINE_BREAK) return scanner.getTokenOffset() + scanner.getTokenLength();
    if (!SKIPPED.includes(kind)) return undefined;
  }
}

/** Removes a property, by its value, with its comma and the lines that it had to itself. */
function removeProperty(text: string, value: Node): string {
  const property = value.parent as Node;
  const siblings = property.parent?.children ?? [];
  const edits: Edit[] = [];
  let start = property.offset;
  let end = property.offset + property.length;
  const comma = nextComma(text, end);
  if (comma !== undefined) end = comma + 1;
  else {
    const before = siblings[siblings.indexOf(property) - 1];
    const last = before && nextComma(text, before.offset + before.length);
    if (last !== undefined) edits.push({ offset: last, length: 1, content: '' });
  }
  if (startsLine(text, start)) {
    const rest = /^[ \t]*(\r?\n)/.exec(text.slice(end));
    if (rest !== null) {
      start = text.lastIndexOf('\n', start - 1) + 1;
      end += rest[0].length;
    }
  }
  edits.push({ offset: start, length: end - start, content: '' });
  return applyEdits(text, edits);
}

function nextComma(text: string, from: number): number | undefined {
  const scanner = createScanner(text, true);
  scanner.setPosition(from);
  return scanner.scan() === COMMA ? scanner.getTokenOffset() : undefined;
}

function startsLine(text: string, offset: number): boolean {
  return text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset).trim() === '';
}

/** How a text is laid out. */
interface Style {
  readonly eol: string;
  readonly unit: string;
  /** The white space at the start of the line that a node stands on. */
  readonly indentOf: (node: Node) => string;
}

function styleOf(text: string): Style {
  const indentAt = (offset: number): string =>
    /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', offset - 1) + 1))?.[0] ?? '';
  return {
    eol: /\r?\n/.exec(text)?.[0] ?? '\n',
    unit: /\n([ \t]+)"/.exec(text)?.[1] ?? '  ',
    indentOf: (node) => indentAt(node.offset),
  };
}

function stringify(value: unknown, eol: string, indent: string, unit: string): string {
  return JSON.stringify(value, null, unit).replaceAll('\n', eol + indent);
}
