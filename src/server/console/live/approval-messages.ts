import * as z from 'zod';
import type { WaitingCall } from './approval-queue.ts';

const waitingCall: z.ZodType<WaitingCall> = z.object({
  id: z.string(),
  time: z.number(),
  expires: z.number(),
  tool: z.string(),
  root: z.string().nullable(),
  path: z.string().nullable(),
  client: z.string().nullable(),
  message: z.string(),
  roots: z.array(z.string()).readonly(),
  caller: z.string(),
});

/** What replicas tell each other of calls that wait for a person. */
export const approvalMessage = z.discriminatedUnion('kind', [
  /** All calls that wait at a replica. */
  z.object({ kind: z.literal('waiting'), from: z.string(), calls: z.array(waitingCall).readonly() }),
  /** The answer of a person, for the replica where the call waits. */
  z.object({
    kind: z.literal('answer'),
    from: z.string(),
    request: z.string(),
    id: z.string(),
    agrees: z.boolean(),
    viewer: z.object({ name: z.string(), sha256: z.string() }),
  }),
  /** What became of an answer, for the replica where it was given. */
  z.object({ kind: z.literal('accepted'), request: z.string(), accepted: z.enum(['done', 'gone', 'own']) }),
]);

export type ApprovalMessage = z.output<typeof approvalMessage>;
export type Sent<K extends ApprovalMessage['kind']> = Extract<ApprovalMessage, { kind: K }>;
