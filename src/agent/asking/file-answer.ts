import { BridgeError } from '../bridge-error.ts';
import { isRecord } from '../handover/check-entries.ts';
import type { ReceivedFile } from '../handover/handover.ts';
import { HANDOVER_TOOLS } from '../handover-tools.ts';
import type { FileQuestion, SampleAnswer } from '../sample.ts';
import {
  badAnswer,
  findJson,
  type HandoverCall,
  parseReportedError,
  parseToolCalls,
  readAnswer,
  toReportedError,
} from './answer.ts';

type ParsedAnswer = { failure: string } | { calls: readonly HandoverCall[] } | { file: FileFields };
type FileFields = Omit<ReceivedFile, 'path'> & { readonly path?: string };

/**
 * Returns the files in an answer to a `FileQuestion`: from tool calls, else from JSON of a known shape in its text. Any
 * other text, including other JSON, is the file content itself. Does not check paths or hashes. Raises `bad_answer`,
 * `is_directory`, `not_found` and `permission_denied`.
 */
export function readFileAnswer(answer: SampleAnswer, { path, binary }: FileQuestion): ReceivedFile[] {
  const { calls, texts } = readAnswer(answer, path);
  const parsed: ParsedAnswer = (calls.length > 0 ? { calls } : findJson(texts, recognise)) ?? {
    file: { content: binary ? texts.join('').trim() : texts.join('') },
  };
  if ('failure' in parsed) throw toReportedError(parsed.failure, path);
  const files: FileFields[] = 'file' in parsed ? [parsed.file] : parsed.calls.flatMap((call) => filesOf(call, path));
  // The prompt for a binary file asks for base64, so an answer without an encoding is taken as base64.
  return files.map((file) => ({ path, ...file, ...(binary && file.encoding === undefined && { binary }) }));
}

function recognise(value: unknown): ParsedAnswer | undefined {
  const failure = parseReportedError(value);
  if (failure !== undefined) return { failure };
  const calls = parseToolCalls(value);
  if (calls !== undefined) return { calls };
  const file = fileFields(value);
  return file && { file };
}

function filesOf({ name, input }: HandoverCall, path: string): FileFields[] {
  if (name === HANDOVER_TOOLS.listDirectory) throw new BridgeError('is_directory', {}, { path });
  const given = Array.isArray(input.files) ? input.files : [input];
  return given.map((item) => {
    const file = fileFields(item);
    if (file?.path === undefined) throw badAnswer(`the arguments of ${name} are not valid`, path);
    return file;
  });
}

const FIELDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  path: (value) => typeof value === 'string',
  content: (value) => typeof value === 'string',
  encoding: (value) => typeof value === 'string',
  mtime: (value) => typeof value === 'string' || typeof value === 'number',
  size: (value) => Number.isSafeInteger(value),
  binary: (value) => typeof value === 'boolean',
  sha256: (value) => typeof value === 'string',
  chunk: (value) =>
    isRecord(value) && Number.isSafeInteger(value.index) && Number.isSafeInteger(value.total) && isText(value.sha256),
};

const isText = (value: unknown): boolean => value == null || typeof value === 'string';

/**
 * Returns the value as file fields if it has `content` and only known fields of the right types; null counts as absent.
 */
function fileFields(value: unknown): FileFields | undefined {
  if (!isRecord(value) || typeof value.content !== 'string') return undefined;
  const given = Object.entries(value).filter(([, field]) => field !== null);
  if (!given.every(([key, field]) => Object.hasOwn(FIELDS, key) && FIELDS[key]?.(field))) return undefined;
  return Object.fromEntries(given) as unknown as FileFields;
}
