import { ConfigError } from '../../config/config-error.ts';
import { printable } from '../../runtime/printable.ts';
import { didYouMean } from '../../tools/nearest.ts';
import { describeType, type Schema, typesOf } from './schema.ts';

/** Where the content of an argument comes from that is not on the command line. */
export interface ContentSources {
  /** Reads a file as text. */
  file(path: string): string;
  /** Reads stdin to its end, as text. */
  stdin(): Promise<string>;
}

/** One word of a command line: `key=value`, `key=@file`, `key=-` or `key:=json`. */
export interface WrittenArgument {
  readonly key: string;
  readonly value: string;
  readonly isJson: boolean;
}

/** Splits words at their first `=`. Raises `ConfigError` for a word that has none. */
export function splitArguments(words: readonly string[]): WrittenArgument[] {
  return words.map((word) => {
    const [, key, colon, value] = /^([^=]*?)(:?)=([\s\S]*)$/.exec(word) ?? [];
    if (key === undefined || key === '' || value === undefined) {
      throw new ConfigError(`${printable(word)}: an argument is written key=value, for example path=notes.txt`);
    }
    return { key, value, isJson: colon === ':' };
  });
}

/**
 * Replaces `@file` and `-` by the text that they stand for. What stands so is no longer read by its type, so that
 * content stays as it is. Raises `ConfigError`.
 */
export async function loadContents(
  written: readonly WrittenArgument[],
  sources: ContentSources,
): Promise<(WrittenArgument & { readonly isContent: boolean })[]> {
  const fromStdin = written.filter(({ value, isJson }) => value === '-' && !isJson);
  if (fromStdin.length > 1) throw new ConfigError(`only one argument can be read from stdin, got ${fromStdin.length}`);
  const loaded: (WrittenArgument & { readonly isContent: boolean })[] = [];
  for (const argument of written) {
    const { key, value, isJson } = argument;
    if (isJson || !(value === '-' || value.startsWith('@'))) loaded.push({ ...argument, isContent: false });
    else {
      const text = value === '-' ? await sources.stdin() : sources.file(value.slice(1));
      loaded.push({ key, value: text, isJson: false, isContent: true });
    }
  }
  return loaded;
}

/**
 * Returns the arguments of a call, each read as its tool's schema says. A key that is given several times is a list.
 * Raises `ConfigError` for an unknown or missing key, and for a value of another type.
 */
export function toArguments(
  written: readonly (WrittenArgument & { readonly isContent?: boolean })[],
  schema: Schema,
): Record<string, unknown> {
  const known = Object.keys(schema.properties ?? {});
  const args: Record<string, unknown> = {};
  for (const argument of written) {
    const { key } = argument;
    const property = Object.hasOwn(schema.properties ?? {}, key) ? schema.properties?.[key] : undefined;
    // Some schemas leave out that they are closed. A key that one does not name is a typo more often than not.
    if (property === undefined && known.length > 0 && !schema.additionalProperties) {
      throw new ConfigError(
        `unknown argument "${printable(key)}"${didYouMean(key, known)}; known are ${known.join(', ')}`,
      );
    }
    const isList = property !== undefined && typesOf(property).includes('array');
    const value = isList ? readList(argument, property) : readValue(argument, property ?? {});
    if (!Object.hasOwn(args, key)) args[key] = value;
    else if (isList) args[key] = [...(args[key] as unknown[]), ...(value as unknown[])];
    else throw new ConfigError(`${printable(key)} is given twice`);
  }
  return args;
}

/** Returns what a tool needs and was not given. */
export function missingArguments(args: object, { required = [] }: Schema): string[] {
  return required.filter((key) => !Object.hasOwn(args, key));
}

function readList(argument: WrittenArgument & { readonly isContent?: boolean }, schema: Schema): unknown[] {
  const { key, value, isJson, isContent } = argument;
  if (isJson || (value.startsWith('[') && !isContent)) {
    const parsed = parseJson(key, value);
    if (!Array.isArray(parsed)) throw wrong(argument, schema);
    return parsed;
  }
  return [readValue(argument, schema.items ?? {})];
}

function readValue(argument: WrittenArgument & { readonly isContent?: boolean }, schema: Schema): unknown {
  const { key, value, isJson, isContent } = argument;
  if (isJson) return parseJson(key, value);
  const types = typesOf(schema);
  const choices = schema.enum;
  if (choices !== undefined && !choices.map(String).includes(value)) {
    throw new ConfigError(
      `${key}: must be one of ${choices.join(', ')}, got "${printable(value)}"${didYouMean(value, choices.map(String))}`,
    );
  }
  if (isContent || types.length === 0 || types.includes('string')) return value;
  if (
    (types.includes('integer') || types.includes('number')) &&
    value.trim() !== '' &&
    Number.isFinite(Number(value))
  ) {
    return Number(value);
  }
  if (types.includes('boolean') && (value === 'true' || value === 'false')) return value === 'true';
  if (types.includes('null') && value === 'null') return null;
  if (types.includes('object')) return parseJson(key, value);
  throw wrong(argument, schema);
}

function wrong({ key, value }: WrittenArgument, schema: Schema): ConfigError {
  return new ConfigError(`${key}: must be ${describeType(schema)}, got "${printable(value.slice(0, 100))}"`);
}

function parseJson(key: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ConfigError(`${key}: is not valid JSON: ${(error as Error).message}`);
  }
}
