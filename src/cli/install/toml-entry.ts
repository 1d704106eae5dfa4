import { isDeepStrictEqual } from 'node:util';
import { parse, TomlError, type TomlTable } from 'smol-toml';
import { EntryError } from './entry-error.ts';
import type { EntryPlace } from './json-entry.ts';

type Entry = Readonly<Record<string, unknown>>;

/** Lines `[start, end)` of a text that belong to one table. */
interface Section {
  readonly start: number;
  readonly end: number;
  readonly path: readonly string[];
}

/** Returns the entry in a TOML text; undefined if there is none. Raises `EntryError`. */
export function tomlEntry(text: string, { key, name }: EntryPlace): unknown {
  const servers = parsed(text)[key];
  if (servers === undefined) return undefined;
  if (!isTable(servers)) throw new EntryError(`${key} is not a table`);
  return servers[name];
}

/**
 * Returns a TOML text with an entry. A new one is appended; of one that is there, only the values that differ are
 * replaced. Everything else stays as it is, which is checked by parsing both texts. Raises `EntryError`.
 */
export function withTomlEntry(text: string, place: EntryPlace, entry: Entry): string {
  const { key, name } = place;
  const old = tomlEntry(text, place);
  if (old !== undefined && !isTable(old)) throw new EntryError(`${key}.${name} is not a table`);
  const eol = /\r?\n/.exec(text)?.[0] ?? '\n';
  const wanted = withValue(parsed(text), place, old?.command === undefined ? entry : { ...old, ...entry });
  const statements = (values: Entry): string[] =>
    Object.entries(values).map(([each, value]) => `${each} = ${tomlValue(value)}${eol}`);
  if (old === undefined) {
    const gap = text === '' ? '' : /\n$/.test(text) ? eol : eol + eol;
    return checked(`${text}${gap}[${key}.${name}]${eol}${statements(entry).join('')}`, wanted);
  }
  const lines = linesOf(text);
  const own = sectionsOf(lines).find(({ path }) => isDeepStrictEqual(path, [key, name]));
  if (own === undefined) throw new EntryError(`${key}.${name} is not a table of its own; change it by hand`);
  const end = old.command === undefined ? own.start + 1 : own.end;
  const kept: string[] = [];
  for (let at = own.start + 1; at < own.end; ) {
    const next = statementEnd(lines, at, own.end);
    const statement = lines.slice(at, next);
    const [each] = Object.keys(safely(statement.join('')) ?? {});
    const isReplaced = each !== undefined && (old.command === undefined || !isDeepStrictEqual(old[each], entry[each]));
    if (each === undefined || !isReplaced || (end === own.end && !(each in entry))) kept.push(...statement);
    at = next;
  }
  const missing = Object.fromEntries(
    Object.entries(entry).filter(([each, value]) => old.command === undefined || !isDeepStrictEqual(old[each], value)),
  );
  const header = (lines[own.start] ?? '').replace(/(?<!\n)$/, eol);
  const after = [...lines.slice(0, own.start), header, ...statements(missing), ...kept, ...lines.slice(own.end)];
  return checked(after.join(''), wanted);
}

/** Returns a TOML text without an entry, the tables in it included. Raises `EntryError`. */
export function withoutTomlEntry(text: string, place: EntryPlace): string {
  const { key, name } = place;
  if (tomlEntry(text, place) === undefined) return text;
  const lines = linesOf(text);
  const own = sectionsOf(lines).filter(({ path }) => path[0] === key && path[1] === name);
  const isOwn = (index: number): boolean => own.some(({ start, end }) => index >= start && index < end);
  // The blank line that was put ahead of it.
  const blank = (own[0]?.start ?? 0) - 1;
  const rest = lines.filter((line, index) => !isOwn(index) && !(index === blank && line.trim() === ''));
  const wanted = withValue(parsed(text), place, undefined);
  return checked(rest.join(''), wanted, place.key);
}

function parsed(text: string): TomlTable {
  try {
    return parse(text, { integersAsBigInt: true }) as TomlTable;
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const reason = error.message.split('\n')[0]?.replace('Invalid TOML document: ', '');
    throw new EntryError(`it is not valid TOML: ${reason} in line ${error.line}`);
  }
}

function safely(text: string): TomlTable | undefined {
  try {
    return parse(text, { integersAsBigInt: true }) as TomlTable;
  } catch {
    return undefined;
  }
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

function withValue(top: TomlTable, { key, name }: EntryPlace, entry: Entry | undefined): TomlTable {
  const { [name]: _, ...servers } = (top[key] ?? {}) as Record<string, unknown>;
  return { ...top, [key]: entry === undefined ? servers : { ...servers, [name]: entry } } as TomlTable;
}

/** Returns a text if it says what it should. An empty table may be missing. */
function checked(text: string, wanted: TomlTable, mayMiss?: string): string {
  const result = safely(text);
  const filled = result && mayMiss !== undefined && !(mayMiss in result) ? { ...result, [mayMiss]: {} } : result;
  if (filled !== undefined && isDeepStrictEqual(plain(filled), plain(wanted))) return text;
  throw new EntryError('its layout cannot be changed safely; change it by hand');
}

/** Returns tables without the prototypes that the parser gives them. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (!isTable(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => [key, plain(each)]),
  );
}

function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Returns where the statement that begins in a line ends: it is the shortest text that parses. */
function statementEnd(lines: readonly string[], start: number, limit: number): number {
  for (let end = start + 1; end <= limit; end += 1) if (safely(lines.slice(start, end).join(''))) return end;
  return limit;
}

/** Returns the tables with a header. Comments and blank lines ahead of the next header are not part of them. */
function sectionsOf(lines: readonly string[]): Section[] {
  const sections: Section[] = [];
  let header: { start: number; path: readonly string[] } | undefined;
  let end = 0;
  const close = (): void => {
    if (header !== undefined) sections.push({ ...header, end });
  };
  for (let at = 0; at < lines.length; ) {
    const next = statementEnd(lines, at, lines.length);
    const line = lines[at] ?? '';
    if (/^\s*\[/.test(line)) {
      close();
      header = { start: at, path: pathOf(safely(line)) };
    }
    if (!/^\s*(#|$)/.test(line)) end = next;
    at = next;
  }
  close();
  return sections;
}

function pathOf(table: TomlTable | undefined): string[] {
  const path: string[] = [];
  for (let at: unknown = table; isTable(at); ) {
    const [key] = Object.keys(at);
    if (key === undefined) break;
    path.push(key);
    at = at[key];
  }
  return path;
}

function tomlValue(value: unknown): string {
  // A JSON string is a TOML string, but for the one control character that JSON leaves as it is.
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(', ')}]`;
  return JSON.stringify(value).replaceAll('\u007f', '\\u007f');
}
