import { BridgeError } from '../bridge-error.ts';
import { isRecord } from '../handover/check-entries.ts';
import { HANDOVER_TOOLS } from '../handover-tools.ts';
import type { SampleAnswer, SampleBlock } from '../sample.ts';

/** A call of one of the guide tools, found in an answer. Its input is unchecked. */
export interface HandoverCall {
  readonly name: (typeof HANDOVER_TOOLS)[keyof typeof HANDOVER_TOOLS];
  readonly input: Readonly<Record<string, unknown>>;
}

/** The parts of an answer: its tool calls and the texts of its text blocks. */
export interface AnswerContent {
  readonly calls: readonly HandoverCall[];
  readonly texts: readonly string[];
}

const CUT_OFF_ADVICE = `Raise the token limit, ask for less, or have the file handed over in chunks with ${HANDOVER_TOOLS.readFile}.`;
const TOOL_NAMES: readonly unknown[] = Object.values(HANDOVER_TOOLS);
const CUT_OFF: readonly unknown[] = ['maxTokens', 'max_tokens', 'length'];

/**
 * Splits an answer into tool calls and texts. Raises `bad_answer` if it is empty, or if it was cut off by its token
 * limit: a truncated file cannot be told from a complete one.
 */
export function readAnswer(answer: SampleAnswer, path: string): AnswerContent {
  if (typeof answer === 'string') return { calls: [], texts: [answer] };
  if (!isRecord(answer)) throw badAnswer('it has no content', path);
  if (CUT_OFF.includes(answer.stopReason)) throw badAnswer('it was cut off by its token limit', path, CUT_OFF_ADVICE);
  const blocks: readonly unknown[] = Array.isArray(answer.content) ? answer.content : [answer.content];
  const calls = blocks.flatMap((block) => toolUse(block));
  const texts = blocks.flatMap((block) => textOf(block));
  if (calls.length === 0 && texts.every((text) => text === ''))
    throw badAnswer('it is empty; an empty file is {"content": ""}', path);
  return { calls, texts };
}

function toolUse(block: unknown): HandoverCall[] {
  if (!isRecord(block) || block.type !== 'tool_use') return [];
  const { name, input } = block;
  return isToolName(name) && isRecord(input) ? [{ name, input }] : [];
}

function textOf(block: unknown): string[] {
  if (typeof block === 'string') return [block];
  if (!isRecord(block)) return [];
  const { type, text } = block as Partial<SampleBlock>;
  return type === 'text' && typeof text === 'string' ? [text] : [];
}

/**
 * Returns the result of `recognise` for the first JSON value in the texts that it accepts, or undefined. Tries each
 * text by itself, then all of them joined.
 */
export function findJson<T>(texts: readonly string[], recognise: (value: unknown) => T | undefined): T | undefined {
  const candidates = texts.length > 1 ? [...texts, texts.join('')] : texts;
  for (const value of candidates.flatMap(parseJsonValues)) {
    const recognised = recognise(value);
    if (recognised !== undefined) return recognised;
  }
  return undefined;
}

/**
 * Reads tool calls that a model wrote as JSON text: an object with `name` or `tool` and with `arguments` or `input`, or
 * an array of such objects. Returns undefined for any other value.
 */
export function parseToolCalls(value: unknown): readonly HandoverCall[] | undefined {
  if (Array.isArray(value)) {
    const calls = value.map((item) => parseToolCall(item));
    return calls.length > 0 && calls.every((call) => call !== undefined) ? calls : undefined;
  }
  const call = parseToolCall(value);
  return call && [call];
}

function parseToolCall(value: unknown): HandoverCall | undefined {
  if (!isRecord(value)) return undefined;
  const name = value.name ?? value.tool;
  const given = value.arguments ?? value.input;
  const input = typeof given === 'string' ? parseJson(given) : given;
  return isToolName(name) && isRecord(input) ? { name, input } : undefined;
}

const FENCED = /```[\w-]*[ \t]*\r?\n([\s\S]*?)\r?\n?```/g;
const CALLED = new RegExp(`^\\s*(${TOOL_NAMES.join('|')})\\s*\\(([\\s\\S]*)\\)\\s*;?\\s*$`);

function parseJsonValues(text: string): unknown[] {
  const called = CALLED.exec(text);
  if (called !== null) return [{ name: called[1], arguments: called[2] }];
  const whole = parseJson(text);
  if (whole !== undefined) return [whole];
  // Models wrap JSON in one code block with an explanation around it. Text with several code blocks is more likely file
  // content.
  const fenced = [...text.matchAll(FENCED)];
  return fenced.length === 1 ? [parseJson(fenced[0]?.[1] ?? '')] : [];
}

function parseJson(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isToolName(name: unknown): name is HandoverCall['name'] {
  return TOOL_NAMES.includes(name);
}

/**
 * Returns the `error` of an answer of the form `{ "error": "not_found" }`, optionally with `message` and `path`; else
 * undefined.
 */
export function parseReportedError(value: unknown): string | undefined {
  if (!isRecord(value) || typeof value.error !== 'string') return undefined;
  return Object.keys(value).every((key) => ['error', 'message', 'path'].includes(key)) ? value.error : undefined;
}

const MISSING = /^(?:(?:file|directory|folder)_)?not_found$|^enoent$|^no_such_file/i;
const FOLDER = /^(?:is_)?(?:a_)?directory$|^eisdir$/i;
const DENIED = /^permission_denied$|^access_denied$|^forbidden$|^eacces$|^eperm$/i;

/**
 * Maps an error that the client reported to `not_found`, `is_directory`, `permission_denied`, or `bad_answer` if it is
 * unknown.
 */
export function toReportedError(error: string, path: string): BridgeError {
  if (MISSING.test(error)) return new BridgeError('not_found', {}, { path });
  if (FOLDER.test(error)) return new BridgeError('is_directory', {}, { path });
  if (DENIED.test(error)) return new BridgeError('permission_denied', {}, { path });
  return badAnswer(`it reports an error (${error.slice(0, 100)})`, path);
}

/** Creates a `bad_answer` error about a path. `advice` replaces the default instruction. */
export function badAnswer(problem: string, path: string, advice?: string): BridgeError {
  return new BridgeError('bad_answer', advice === undefined ? { problem } : { problem, advice }, { path });
}
