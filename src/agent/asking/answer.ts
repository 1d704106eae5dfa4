import { BridgeError } from '../bridge-error.ts';
import { isRecord } from '../handover/check-entries.ts';
import type { SampleAnswer, SampleBlock } from '../sample.ts';
import { TOOL_NAMES } from './prompts.ts';

/** A call of one of the tools for handing files over, in whatever form it came. Its input is unchecked. */
export interface HandoverCall {
  readonly name: (typeof TOOL_NAMES)[number];
  readonly input: Readonly<Record<string, unknown>>;
}

/** What an answer holds: calls, or the texts of its blocks. */
export interface AnswerContent {
  readonly calls: readonly HandoverCall[];
  readonly texts: readonly string[];
}

const CUT_OFF_ADVICE =
  'Raise the token limit, ask for less, or have the file handed over in chunks with guide_read_file.';
const CUT_OFF: readonly unknown[] = ['maxTokens', 'max_tokens', 'length'];

/** Takes an answer apart. One that was cut off is `bad_answer`, whatever it holds: half a file looks like a whole one. */
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

/** The first value that a text spells as JSON and that `recognise` knows: each block by itself, then all of them joined. */
export function findForm<T>(texts: readonly string[], recognise: (value: unknown) => T | undefined): T | undefined {
  const wholes = texts.length > 1 ? [...texts, texts.join('')] : texts;
  for (const value of wholes.flatMap(parseJsonValues)) {
    const form = recognise(value);
    if (form !== undefined) return form;
  }
  return undefined;
}

/** The calls that a value spells: `{ "name" or "tool", "arguments" or "input" }`, or an array of nothing else. */
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
  // Words around a single block of code are taken for talk about it; several blocks are a text of their own.
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
  return (TOOL_NAMES as readonly unknown[]).includes(name);
}

/** The error that an answer reports: `{ "error": "not_found" }`, perhaps with a message. */
export function parseReportedError(value: unknown): string | undefined {
  if (!isRecord(value) || typeof value.error !== 'string') return undefined;
  return Object.keys(value).every((key) => ['error', 'message', 'path'].includes(key)) ? value.error : undefined;
}

const MISSING = /^(?:(?:file|directory|folder)_)?not_found$|^enoent$|^no_such_file/i;
const FOLDER = /^(?:is_)?(?:a_)?directory$|^eisdir$/i;
const DENIED = /^permission_denied$|^access_denied$|^forbidden$|^eacces$|^eperm$/i;

/** The failure that an answer reports, as ours. */
export function toReportedError(error: string, path: string): BridgeError {
  if (MISSING.test(error)) return new BridgeError('not_found', {}, { path });
  if (FOLDER.test(error)) return new BridgeError('is_directory', {}, { path });
  if (DENIED.test(error)) return new BridgeError('permission_denied', {}, { path });
  return badAnswer(`it reports an error (${error.slice(0, 100)})`, path);
}

export function badAnswer(problem: string, path: string, advice?: string): BridgeError {
  return new BridgeError('bad_answer', advice === undefined ? { problem } : { problem, advice }, { path });
}
