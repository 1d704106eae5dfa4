// A server of one's own: Ringfence's workspace tools and one more, on stdin and stdout. Run it with: node examples/server.mjs <folder>
import { configFromDirs, defineTool, openLog, openService, startStdio, workspace } from 'ringfence';
import * as z from 'zod';

const countFiles = defineTool({
  name: 'count_files',
  description: 'Count the files below a folder of a root.',
  needs: ['glob'],
  effect: 'read',
  input: z.strictObject({ root: z.string(), pattern: z.string().default('**') }),
  output: z.object({ files: z.number() }),
  subject: ['root', 'pattern'],
  async run({ root, pattern }, context) {
    const { glob } = await import('ringfence/search');
    const options = { pattern, type: /** @type {const} */ ('file'), maxResults: 100_000 };
    const { totalMatches } = await glob(context.root(root), options, context.search, context);
    return { files: totalMatches };
  },
});

const service = openService({
  config: configFromDirs(process.argv.slice(2)),
  dialect: { ...workspace, tools: [...workspace.tools, countFiles] },
  logger: openLog('warn').logger,
});
const stdio = startStdio({ description: service.description, shared: service, load: async () => service });
await stdio.gone;
await stdio.close();
await service.close();
