import * as z from 'zod';

export const storagePath = z.string().describe('Path relative to the base folder');
export const encoding = z.enum(['utf-8', 'base64']);

/** What a tool that only changes something answers besides its sentence. */
export const changedPath = z.object({ path: z.string() });

export const SUBJECT = ['path'] as const;
