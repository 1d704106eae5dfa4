import * as z from 'zod';
import type { AcceptedFile } from '../../agent/handover/handover.ts';
import { HANDOVER_TOOLS } from '../../agent/handover-tools.ts';
import { defineTool } from '../../tools/tool.ts';
import { assertContentSize, MAX_CONTENT, MAX_FILES } from './content-size.ts';
import { resultOf, success } from './result.ts';
import { encoding, mtime, projectPath, rootName, SECURITY, SUBJECT } from './shared-schemas.ts';

const size = z.int().min(0).describe('In bytes, to be compared with what came');
const file = z.strictObject({
  path: projectPath,
  content: z.string().describe('The whole text, or the bytes in base64'),
  encoding,
  mtime: mtime.optional(),
  size: size.optional(),
});

const evicted = z.object({ entries: z.int(), bytes: z.int() });
const cached = z.object({
  cache_key: z.string().describe('The normalised path'),
  status: z.enum(['created', 'updated']),
  size: z.int().describe('In bytes'),
  content_hash: z.string().describe('SHA-256 of the bytes, in hex'),
  metadata: z.object({
    size: z.int(),
    encoding: z.string().optional(),
    mtime: mtime.optional(),
    cached_at: z.string(),
  }),
  evicted,
});
const batch = z.object({ files: z.array(cached), count: z.int(), total_bytes: z.int(), evicted });

const input = z
  .strictObject({
    path: projectPath.optional(),
    content: z.string().optional().describe('The whole text, or the bytes in base64'),
    encoding,
    mtime: mtime.optional(),
    size: size.optional(),
    root: rootName,
    files: z
      .array(file)
      .min(1)
      .max(MAX_FILES)
      .optional()
      .describe('Several files instead of one: all are stored or none'),
  })
  .superRefine(({ files, root: _, ...single }, { addIssue }) => {
    const given = Object.keys(single).filter((key) => single[key as keyof typeof single] !== undefined);
    const complain = (path: string, message: string) => addIssue({ code: 'custom', path: [path], message });
    if (files !== undefined && given.length > 0)
      complain('files', `files must not be given together with ${given.join(', ')}: one file or several, not both`);
    if (files !== undefined) return;
    for (const key of ['path', 'content'] as const)
      if (single[key] === undefined) complain(key, `${key} is required, or files for several files`);
  });

export const cacheFile = defineTool({
  name: HANDOVER_TOOLS.cacheFile,
  description: [
    `Hand over the content of one file of your project, or of several with files (all or none). The server keeps it for you and does not ask for it again. What came before under that path is replaced. The least recently used files give way when the cache is full. Content above ${MAX_CONTENT} goes in chunks, with ${HANDOVER_TOOLS.readFile}.`,
    SECURITY,
    'Example: {"path": "docs/intro.md", "content": "# Hello\\n", "mtime": "2026-01-31T12:00:00Z"}',
    'Example: {"files": [{"path": "docs/a.md", "content": "A"}, {"path": "src/b.bin", "content": "AAEC", "encoding": "base64"}]}',
  ].join('\n'),
  needs: [],
  effect: 'create',
  // It takes files that the client hands over, and changes no root.
  changes: () => [],
  subject: SUBJECT,
  input,
  output: resultOf(z.union([cached, batch])),
  run: async ({ root, files, path, content, ...metadata }, context) => {
    const bridge = context.agentFiles(root);
    const given = files ?? [{ path: path ?? '', content: content ?? '', ...metadata }];
    for (const each of given) assertContentSize(each);
    const taken = bridge.cacheFiles(given);
    const described = taken.map((each) => describe(each, bridge.cache.peek(each.path)?.cachedAt));
    const warnings = taken.flatMap((each) => each.warnings);
    const [first] = described;
    if (files === undefined && first !== undefined) {
      return success(context, {
        bridge,
        data: first,
        message: `${first.cache_key} ${first.status} in the cache.`,
        warnings,
      });
    }
    const total = described.reduce((sum, each) => sum + each.size, 0);
    const data = { files: described, count: described.length, total_bytes: total, evicted: sumOf(taken) };
    return success(context, { bridge, data, message: `${data.count} files stored, ${total} bytes in all.`, warnings });
  },
});

function describe({ path, status, size, contentHash, metadata, evicted }: AcceptedFile, cachedAt = Date.now()) {
  const { mtime: changed, ...known } = metadata;
  return {
    cache_key: path,
    status,
    size,
    content_hash: contentHash,
    metadata: {
      ...known,
      ...(changed !== undefined && { mtime: changed instanceof Date ? changed.toISOString() : changed }),
      cached_at: new Date(cachedAt).toISOString(),
    },
    evicted: { ...evicted },
  };
}

function sumOf(taken: readonly AcceptedFile[]): z.output<typeof evicted> {
  return {
    entries: taken.reduce((sum, each) => sum + each.evicted.entries, 0),
    bytes: taken.reduce((sum, each) => sum + each.evicted.bytes, 0),
  };
}
