import * as z from 'zod';

/** An argument of the command line; a positional one says what it is or what it is for. */
const argument = z
  .strictObject({
    type: z.enum(['positional', 'named']),
    name: z.string().startsWith('-').optional(),
    value: z.string().optional(),
    valueHint: z.string().optional(),
    description: z.string().optional(),
    default: z.string().optional(),
    format: z.enum(['string', 'number', 'boolean', 'filepath']).optional(),
    isRequired: z.boolean().optional(),
    isRepeated: z.boolean().optional(),
  })
  .refine(({ type, value, valueHint }) => type === 'named' || (value ?? valueHint) !== undefined, 'has no value');

/** A version and no range of versions. */
const version = z.string().regex(/^\d+\.\d+\.\d+(-[\w.-]+)?$/);

/** The rules of the MCP registry, schema 2025-12-11, for a server that is one npm package. */
const serverJson = z.strictObject({
  $schema: z.string().endsWith('/schemas/2025-12-11/server.schema.json'),
  name: z
    .string()
    .min(3)
    .max(200)
    .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  title: z.string().min(1).max(100),
  description: z.string().min(1).max(100),
  version,
  packages: z.tuple([
    z.strictObject({
      registryType: z.literal('npm'),
      identifier: z.string(),
      version,
      runtimeHint: z.literal('npx'),
      transport: z.strictObject({ type: z.literal('stdio') }),
      packageArguments: z.array(argument),
    }),
  ]),
});

/** Returns what the registry would refuse of a server.json, given the package.json of its package. */
export function serverJsonProblems(server, { name, mcpName, version }) {
  const { success, data, error } = serverJson.safeParse(server);
  if (!success) return error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  const [npm] = data.packages;
  return [
    ...(data.name === mcpName ? [] : ['name: is not mcpName of package.json']),
    ...(npm.identifier === name ? [] : ['packages.0.identifier: is not the name of the package']),
    ...(data.version === version && npm.version === version ? [] : ['version: is not that of the package']),
  ];
}
