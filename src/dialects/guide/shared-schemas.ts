import * as z from 'zod';
import { pathProblem } from '../../agent/policy/project-path.ts';

/** The path argument of all tools. Checks its form; the bridge checks it against the policy. */
export const projectPath = z
  .string()
  .min(1)
  .superRefine((path, { addIssue }) => {
    const problem = pathProblem(path);
    if (problem !== undefined) addIssue({ code: 'custom', message: `path ${problem}` });
  })
  .describe('Relative to the project root, inside an allowed folder');

/** The root argument. */
export const rootName = z.string().optional().describe('Which root, if list_roots shows several of kind agent');

/** The encoding argument. */
export const encoding = z
  .string()
  .optional()
  .describe('Of the file, like utf-8 (default) or latin1; base64 if content is the bytes in base64');

/** A modification time in arguments and results. */
export const mtime = z
  .union([z.number(), z.string()])
  .describe('Last change: seconds or milliseconds since 1970, or ISO 8601');

/** A SHA-256 argument. */
export const sha256 = z.string().regex(/^[0-9a-f]{64}$/i, {
  error: ({ path = [] }) => `${path.map(String).join('.')} must be a SHA-256 in 64 hexadecimal digits`,
});

/** The security paragraph of every tool description. */
export const SECURITY =
  'Security: only paths in the allowed folders of the project are taken; "..", absolute paths and links that lead out are refused.';

/** The subject of all tools, for the log. */
export const SUBJECT = ['root', 'path'] as const;
