import * as z from 'zod';
import { RingfenceError } from '../../errors.ts';
import type { Root } from '../../fence/index.ts';
import { awaitLatest } from '../../files/lease/await-latest.ts';
import { mediaTypeOf } from '../../files/read/media-type.ts';
import { readFile as read } from '../../files/read/read-file.ts';
import { throwIfAborted, yieldPoint } from '../../runtime/operation-context.ts';
import { type GlobResult, glob } from '../../search/index.ts';
import { type CallError, ToolError } from '../../tools/errors.ts';
import { lengthIn, type NextArguments, nextLine } from '../../tools/result-form.ts';
import { type CallContext, defineTool } from '../../tools/tool.ts';
import { JsonList } from '../../wire/json-list.ts';
import { truncateToFit } from '../../wire/result-size.ts';
import { TextList, textOf } from '../../wire/text-list.ts';
import { formatError } from './errors.ts';
import { assertEncoding, byteLengthOf, contentOf } from './file-content.ts';
import { noMatchHint } from './glob.ts';
import { charsAsJson, cutText, readerLines } from './reader-lines.ts';
import { ignoredEntries, next, offset, rootName, version } from './shared-schemas.ts';

/** The most files of one call. */
const MAX_FILES = 1000;
/** The characters that the fields of a file take besides its path and content. */
const FIELD_CHARS = 140;
/** The most bytes of UTF-8 that one character of a string takes. */
const CHARACTER_BYTES = 3;

const file = z.object({
  path: z.string(),
  content: z.string().optional(),
  encoding: z.string().optional(),
  size: z.int().optional(),
  version: version.optional(),
  truncated: z.boolean().optional(),
  mime_type: z.string().optional(),
  error: z.string().optional(),
  next: z.looseObject({}).optional(),
});
type FoundFile = z.output<typeof file>;

const input = z.strictObject({
  root: rootName,
  paths: z.array(z.string()).min(1).optional(),
  pattern: z.string().optional().describe('Glob, like src/**/*.ts'),
  max_chars: z.int().min(1).max(1_000_000).default(100_000).describe('In all'),
  encoding: z.string().optional().describe('As in read_file'),
  offset,
});
type Input = z.output<typeof input>;

export const readFiles = defineTool({
  name: 'read_files',
  description:
    'Read several files at once: paths, or what pattern matches. Each has content or an error. What exceeds max_chars is left for next; a file too long by itself is truncated: go on with read_file and the next of that file.',
  needs: ['read_files'],
  effect: 'read',
  paged: true,
  subject: ['root'],
  input,
  output: z.object({ files: z.array(file), hint: z.string().optional(), next }),
  run: async (args, context) => {
    assertEncoding(args.encoding);
    const root = context.root(args.root);
    const { paths, more, hint } = await pathsOf(args, root, context);
    await awaitAll(root, paths, context);
    const { mode, maxChars = Number.POSITIVE_INFINITY } = context.results;
    const lengthOf = lengthIn(context.results);
    const files = mode === 'text' ? new TextList() : new JsonList<FoundFile>();
    const pause = yieldPoint(context);
    let left = Math.min(args.max_chars, maxChars);
    let isFull = false;
    for (const path of paths) {
      const wait = pause();
      if (wait !== undefined) await wait;
      const found = await readOne(path, { args, root, context, left });
      const text = mode === 'text' ? `${section(found)}\n\n` : JSON.stringify(found);
      const chars = lengthOf(text) + 1;
      isFull = files.length > 0 && (chars > left || found.truncated === true);
      if (isFull) break;
      left -= chars;
      if (files instanceof TextList) files.add(text);
      else files.addJson(text);
    }
    const isCut = isFull || more || files.length < paths.length;
    return {
      files,
      ...(hint !== undefined && { hint }),
      ...(isCut && { next: { offset: args.offset + files.length } }),
    };
  },
  readerText: ({ files, hint, next }) => {
    const text = textOf(files);
    if (next !== undefined) return text + nextLine(next as NextArguments, hint ?? 'more files');
    if (hint !== undefined) return `${text}[${hint}]`;
    return text === '' ? '[no file]' : text.trimEnd();
  },
  summary: ({ files, hint, next }) =>
    `${files.length} files${next === undefined ? '' : ', there are more'}${hint === undefined ? '' : `; ${hint}`}`,
});

/** The files to read. */
interface Wanted {
  readonly paths: readonly string[];
  /** Whether there are, or may be, more than one call can name. */
  readonly more: boolean;
  /** Why there are no files, or may be too few. */
  readonly hint?: string | undefined;
}

/** Returns the files to read, from `offset` on. */
async function pathsOf({ paths, pattern, offset }: Input, root: Root, context: CallContext): Promise<Wanted> {
  if ((paths === undefined) === (pattern === undefined)) {
    throw new ToolError('invalid_argument', { problem: 'exactly one of paths or pattern must be provided' });
  }
  if (paths !== undefined) {
    return { paths: paths.slice(offset, offset + MAX_FILES), more: paths.length > offset + MAX_FILES };
  }
  context.require(root, 'glob');
  const query = { pattern: pattern as string, type: 'file', ignore: true, offset, maxResults: MAX_FILES } as const;
  const found = await glob(root, query, context.search, context);
  const { matches, truncated, timedOut } = found;
  return {
    paths: matches.map(({ path }) => path),
    more: truncated || (timedOut && matches.length > 0),
    hint: searchHint(query, found),
  };
}

/** Says why a pattern has no files, or may have more. */
function searchHint(query: { pattern: string; offset: number }, found: GlobResult): string | undefined {
  if (found.timedOut) return 'the search for files stopped for time, so there may be more';
  if (found.matches.length > 0) return undefined;
  if (query.offset > 0) return `no file from offset ${query.offset} on`;
  const ignored = found.ignored === 0 ? '' : `; ${ignoredEntries(found.ignored)} skipped, which paths can name`;
  return noMatchHint({ pattern: query.pattern }, found, ignored);
}

interface ReadOne {
  readonly args: Input;
  readonly root: Root;
  readonly context: CallContext;
  readonly left: number;
}

/** Waits until this machine shows the latest of all files: one after another, each could take seconds. */
async function awaitAll(root: Root, paths: readonly string[], { signal }: CallContext): Promise<void> {
  // What is wrong with a path is found out by reading it.
  await Promise.allSettled(paths.map(async (path) => awaitLatest(root, root.parse(path), { signal })));
}

/** Reads the beginning of a file, as much as fits into the budget. A failure is a result, too. */
async function readOne(path: string, { args, root, context, left }: ReadOne): Promise<FoundFile> {
  const { encoding } = args;
  const { mode } = context.results;
  const lengthOf = lengthIn(context.results);
  const budget = Math.max(1, left - lengthOf(path) - FIELD_CHARS);
  const maxBytes = Math.min(context.limits.maxFullReadSize, CHARACTER_BYTES * budget);
  try {
    const options = {
      range: { by: 'bytes', offset: 0 },
      maxBytes,
      cut: encoding === undefined ? 'characters' : 'bytes',
    } as const;
    const part = await read(root, root.parse(path), options, context);
    const mimeType = encoding === undefined ? mediaTypeOf(part.bytes) : undefined;
    if (mimeType !== undefined) return { path, size: part.size, version: part.version, mime_type: mimeType };
    const all = contentOf(part, { path, encoding, isCut: part.truncated });
    const shown = mode === 'text' ? numbered(all, { capped: part.truncated, budget, lengthOf }) : plain(all, budget);
    const truncated = part.truncated || shown.cut;
    const facts = { path, content: shown.content, encoding: all.encoding, size: part.size, version: part.version };
    // A text says itself where it goes on.
    if (!truncated || mode === 'text') return { ...facts, truncated };
    return { ...facts, truncated, next: { offset_bytes: all.start + byteLengthOf(shown.content, all.encoding) } };
  } catch (error) {
    throwIfAborted(context.signal);
    if (!(error instanceof RingfenceError)) throw error;
    const failure = error as CallError;
    context.reportFailure(path, failure);
    return { path, error: formatError(failure, { tool: { name: 'read_file' }, args: { root: args.root, path } }) };
  }
}

type Content = ReturnType<typeof contentOf>;

function plain({ content, encoding }: Content, budget: number) {
  const isBase64 = encoding === 'base64';
  const cut = isBase64
    ? content.slice(0, Math.max(4, budget - (budget % 4)))
    : cutText(content, charsAsJson(content, budget));
  const fitting = truncateToFit(cut, { encoding: isBase64 ? 'base64' : 'utf-8', text: 'json' });
  return { content: fitting, cut: fitting.length < content.length };
}

interface Numbering {
  readonly capped: boolean;
  readonly budget: number;
  lengthOf(text: string): number;
}

function numbered(found: Content, { capped, budget, lengthOf }: Numbering) {
  const { content, encoding, start } = found;
  if (encoding === 'base64') return plain(found, budget);
  const byteLength = (text: string): number => byteLengthOf(text, encoding);
  const { text, lines, more } = readerLines(content, {
    first: 1,
    maxChars: budget,
    lengthOf,
    start,
    capped,
    byteLength,
  });
  const cut = more || capped;
  return { content: cut ? `${text}\n[cut; on with read_file {"offset_lines":${lines + 1}}]` : text, cut };
}

/** Formats a file under its name, as `head` and `tail` do with several files. */
function section({ path, content, encoding, size, version, mime_type, error }: FoundFile): string {
  const head = `==> ${path} <==${version === undefined ? '' : ` version ${version}`}`;
  if (error !== undefined) return `${head}\n[error: ${error}]`;
  if (mime_type !== undefined) return `${head}\n[${mime_type}, ${size} bytes; read_file shows it]`;
  if (size === 0) return `${head}\n[empty file]`;
  return `${head}\n${encoding === 'base64' ? `[base64] ${content}` : content}`;
}
