import type { ListedTool, McpClient } from '../../client/mcp-client.ts';
import { ConfigError } from '../../config/config-error.ts';
import { missingArguments } from './arguments.ts';
import { objects } from './render/fields.ts';
import type { Schema } from './schema.ts';

const ROOT_KEYS = ['root', 'source_root', 'dest_root'];
const LIST_ROOTS = 'list_roots';
const LIST_FOLDER = 'list_folder';

/**
 * Returns the arguments of a call, with what a person may leave out: the name of a root that is the only one, and the
 * folder to list if it is the top. Raises `ConfigError` if the root has to be chosen.
 */
export async function withDefaults(
  args: Readonly<Record<string, unknown>>,
  { name, inputSchema }: ListedTool,
  { client, tools }: { readonly client: McpClient; readonly tools: readonly ListedTool[] },
): Promise<Readonly<Record<string, unknown>>> {
  const missing = missingArguments(args, inputSchema as Schema);
  const path = name === LIST_FOLDER && missing.includes('path') ? { path: '' } : {};
  const roots = missing.filter((key) => ROOT_KEYS.includes(key));
  if (roots.length === 0 || !tools.some((tool) => tool.name === LIST_ROOTS)) return { ...path, ...args };
  const { structuredContent } = await client.callTool(LIST_ROOTS, {});
  const names = (objects(structuredContent?.roots) ?? []).map((root) => String(root.name));
  const [only, ...more] = names;
  if (more.length > 0) throw new ConfigError(`which root? add ${roots[0]}=… with one of ${names.join(', ')}`);
  if (only === undefined) return { ...path, ...args };
  return { ...Object.fromEntries(roots.map((key) => [key, only])), ...path, ...args };
}
