import * as z from 'zod';

/** The path argument. */
export const storagePath = z.string().describe('Path relative to the base folder');
/** How content is encoded in arguments and results. */
export const encoding = z.enum(['utf-8', 'base64']);

/** The result of a tool that only changes something. */
export const changedPath = z.object({ path: z.string() });

/** The subject of tools on one path, for the log. */
export const SUBJECT = ['path'] as const;
