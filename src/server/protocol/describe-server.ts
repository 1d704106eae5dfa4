import { packageVersion } from '../../config/version.ts';
import type { Dialect } from '../../tools/dialect.ts';
import type { ServerDescription } from './server-description.ts';
import { describeTools } from './tool-list.ts';

/** Works out what a server of a dialect says about itself. */
export function describeServer(dialect: Dialect): ServerDescription {
  return {
    serverInfo: { name: dialect.serverName, version: dialect.serverVersion ?? packageVersion() },
    capabilities: { tools: {}, ...(dialect.takesFiles && { resources: {} }) },
    instructions: dialect.instructions,
    tools: describeTools(dialect),
  };
}
