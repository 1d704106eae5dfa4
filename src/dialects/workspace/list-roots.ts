import * as z from 'zod';
import { allowsAll, type Capability } from '../../tools/capabilities.ts';
import { defineTool } from '../../tools/tool.ts';

export const listRoots = defineTool({
  name: 'list_roots',
  description:
    'List the roots (sandboxed folders) and the tools allowed on each. Call it once, first: every other tool takes a root name.',
  needs: [],
  effect: 'read',
  subject: [],
  input: z.strictObject({}),
  output: z.object({
    roots: z.array(
      z.object({ name: z.string(), allowed_tools: z.array(z.string()), kind: z.literal('agent').optional() }),
    ),
  }),
  run: async (_args, context) => ({
    roots: context.allRoots().map(({ kind, root, allowed }) => ({
      name: root.name,
      allowed_tools: [...allowed],
      ...(kind === 'agent' && { kind }),
    })),
  }),
  readerText: ({ roots }) =>
    roots
      .map(({ name, allowed_tools: tools, kind }) => {
        const what = allowsAll(tools as Capability[]) ? 'all tools' : tools.join(', ');
        return `${name}${kind === 'agent' ? " (files on the client's side)" : ''}: ${what}`;
      })
      .join('\n'),
  summary: ({ roots }) => `${roots.length} roots: ${roots.map(({ name }) => name).join(', ')}`,
});
