import * as z from 'zod';
import { MAX_CHUNKS } from '../../agent/handover/chunk-sets.ts';
import { HANDOVER_TOOLS } from '../../agent/handover-tools.ts';
import { defineTool } from '../../tools/tool.ts';
import { assertContentSize, MAX_CONTENT } from './content-size.ts';
import { resultOf, success } from './result.ts';
import { encoding, projectPath, rootName, SECURITY, SUBJECT, sha256 } from './shared-schemas.ts';

export const readFile = defineTool({
  name: HANDOVER_TOOLS.readFile,
  description: [
    `Hand over a file that the server has to read, text or bytes (binary: true, content in base64), whole or in chunks. Content above ${MAX_CONTENT} must come in chunks: they may come in any order and more than once; a set that stays incomplete for five minutes is dropped. Give sha256 to have the bytes verified.`,
    SECURITY,
    'Example: {"path": "docs/logo.png", "content": "iVBORw0KGgo=", "binary": true}',
    'Example: {"path": "docs/long.log", "content": "first half\\n", "chunk": {"index": 0, "total": 2}}',
  ].join('\n'),
  needs: [],
  effect: 'create',
  // It takes files that the client hands over, and changes no root.
  changes: () => [],
  subject: SUBJECT,
  input: z.strictObject({
    path: projectPath,
    content: z.string().describe('Text, or bytes in base64; of a chunk only its part'),
    encoding,
    binary: z.boolean().default(false).describe('content is base64'),
    sha256: sha256.optional().describe('Of the whole file, in hex'),
    chunk: z
      .strictObject({
        index: z.int().min(0).describe('From 0'),
        total: z.int().min(1).max(MAX_CHUNKS).describe('How many chunks the file has'),
        sha256: sha256.optional().describe('Of this chunk, in hex'),
      })
      .optional()
      .describe('Which part of the file content is; without it, the whole file'),
    root: rootName,
  }),
  output: resultOf(
    z.object({
      path: z.string(),
      complete: z.boolean(),
      size: z.int().optional().describe('In bytes, once complete'),
      content_hash: z.string().optional().describe('SHA-256 of the bytes in hex, once complete'),
      received: z.int().optional().describe('Chunks, until complete'),
      total: z.int().optional(),
    }),
  ),
  run: async (args, context) => {
    const bridge = context.agentFiles(args.root);
    assertContentSize(args);
    const taken = bridge.receiveFile(args);
    if (!taken.complete) {
      const { path, received, total } = taken;
      const message = `Chunk stored: ${received} of ${total} of ${path}. Send the others.`;
      return success(context, { bridge, data: { path, complete: false, received, total }, message });
    }
    const { path, size, contentHash, warnings } = taken;
    const data = { path, complete: true, size, content_hash: contentHash };
    return success(context, { bridge, data, message: `${path} stored, ${size} bytes.`, warnings });
  },
});
