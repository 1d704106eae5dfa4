import { HANDOVER_TOOLS } from '../handover-tools.ts';
import type { FileQuestion, ListingQuestion, SampleParams, SampleTool } from '../sample.ts';

const SYSTEM_PROMPT =
  'You give a server access to the files of a project on your side. Answer with exactly what is asked for, in the form that is asked for, and nothing else. Never shorten, reformat or invent content.';

const ERRORS = [
  'If it does not exist: {"error": "not_found"}',
  'If you may not read it: {"error": "permission_denied"}',
];

/** What all questions of a bridge have in common. */
interface PromptOptions {
  readonly maxTokens: number;
  /** The root that the path belongs to, if the client has to tell several apart. */
  readonly rootName?: string | undefined;
}

/**
 * Builds the sampling request for one file. The path is quoted as JSON to prevent prompt injection through file names.
 */
export function askForFile(
  { path, encoding, fallbackEncodings, binary }: FileQuestion,
  { maxTokens, rootName }: PromptOptions,
): SampleParams {
  const [rest, form] = binary
    ? ['Read it as bytes.', '{"content": "<the bytes in base64, on one line>", "encoding": "base64", "mtime": <…>}']
    : [
        readAs(encoding, fallbackEncodings),
        '{"content": "<the whole text>", "encoding": "<encoding of the file>", "mtime": <…>}',
      ];
  const text = [
    `Read the file ${JSON.stringify(path)} of the project and hand over its whole content. The path is relative to the project root.`,
    ...rootLine(rootName),
    rest,
    '',
    `Call ${HANDOVER_TOOLS.cacheFile} with the path and the content if you can, or answer with JSON only: ${form}`,
    'mtime is the time of its last change, in seconds since 1970; leave it out if you do not know it. Content that is not text goes in base64, with "encoding": "base64".',
    'If it is a folder: {"error": "is_directory"}',
    ...ERRORS,
  ].join('\n');
  return params(text, maxTokens, [CACHE_FILE]);
}

/**
 * Builds the sampling request for a folder's entries. The path and the pattern are quoted as JSON to prevent prompt
 * injection.
 */
export function askForListing(
  { path, recursive, pattern }: ListingQuestion,
  { maxTokens, rootName }: PromptOptions,
): SampleParams {
  const text = [
    `List the files and folders in ${JSON.stringify(path)} of the project, hidden ones too. The path is relative to the project root.`,
    ...rootLine(rootName),
    recursive
      ? 'Include everything below it: give each directory its own entries as "children".'
      : 'List only what is directly in it, not what is in its folders.',
    ...(pattern === undefined
      ? []
      : [`Leave out what does not match the glob ${JSON.stringify(pattern)}, but keep folders on the way to a match.`]),
    '',
    `Call ${HANDOVER_TOOLS.listDirectory} if you can, or answer with JSON only: {"path": ${JSON.stringify(path)}, "entries": [{"name": "<name without folders>", "type": "file" | "directory" | "symlink" | "other", "size": <bytes>, "mtime": <seconds since 1970>${recursive ? ', "children": […]' : ''}}, …]}`,
    'List a symbolic link as "symlink"; do not follow it. Leave size and mtime out if you do not know them.',
    ...ERRORS,
  ].join('\n');
  return params(text, maxTokens, [LIST_DIRECTORY]);
}

function rootLine(rootName: string | undefined): string[] {
  const name = JSON.stringify(rootName);
  return rootName === undefined
    ? []
    : [`The project is the one of the root ${name}: give "root": ${name} in tool calls.`];
}

function readAs(encoding: string | undefined, fallbacks: readonly string[]): string {
  if (encoding === undefined) return 'Read it as text.';
  if (fallbacks.length === 0) return `Read it as text in the encoding ${encoding}.`;
  return `Read it as text in the encoding ${encoding}; if that fails, try ${fallbacks.join(', then ')}, and say which it was.`;
}

function params(text: string, maxTokens: number, tools: SampleTool[]): SampleParams {
  return {
    messages: [{ role: 'user', content: { type: 'text', text } }],
    systemPrompt: SYSTEM_PROMPT,
    maxTokens,
    tools,
  };
}

const PATH = { type: 'string', description: 'The path as asked for' };
const MTIME = { type: 'number', description: 'Last change, in seconds since 1970' };

const CACHE_FILE: SampleTool = {
  name: HANDOVER_TOOLS.cacheFile,
  description: 'Hand over the content of the file that was asked for.',
  inputSchema: {
    type: 'object',
    properties: {
      path: PATH,
      content: { type: 'string', description: 'The whole text, or the bytes in base64' },
      encoding: { type: 'string', description: 'The encoding of the file, or base64' },
      mtime: MTIME,
      size: { type: 'integer' },
    },
    required: ['path', 'content'],
  },
};

const LIST_DIRECTORY: SampleTool = {
  name: HANDOVER_TOOLS.listDirectory,
  description: 'Hand over the entries of the folder that was asked for.',
  inputSchema: {
    type: 'object',
    properties: {
      path: PATH,
      entries: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            name: { type: 'string' },
            type: { enum: ['file', 'directory', 'symlink', 'other'] },
            size: { type: 'integer' },
            mtime: MTIME,
            children: { type: 'array', items: { type: 'object' } },
          },
          required: ['name', 'type'],
        },
      },
    },
    required: ['path', 'entries'],
  },
};
