import type { Client } from '../../../tools/client.ts';
import type { ResultForm } from '../../../tools/result-form.ts';
import type { Roots } from '../../../tools/roots.ts';
import type { CallContext } from '../../../tools/tool.ts';
import type { Confirm } from '../../confirm/approve.ts';
import type { ClientLimits } from '../../limits/client-limits.ts';
import type { ReportProgress } from './progress.ts';
import type { RunningCall } from './running-calls.ts';

/** The arguments of a call. */
export type Arguments = Readonly<Record<string, unknown>>;

/** One call of a tool, independent of transport and protocol revision. */
export interface CallRequest {
  readonly name: string;
  readonly args: Arguments;
  /** The `_meta` of the request, unchecked; undefined if it has none. */
  readonly meta?: unknown;
  readonly client: Client;
  /** The name of the client's program, as it declared itself. */
  readonly clientName?: string | undefined;
  /** The roots that this client is allowed to see. */
  readonly roots: Roots;
  readonly sample: CallContext['sample'];
  /** Asks the person who uses the client; undefined for a client that cannot. */
  readonly confirm?: Confirm | undefined;
  /** Started by whoever received the call, who cancels it when the client does. `ToolCaller` ends it. */
  readonly running: RunningCall;
  /** Undefined for a client that did not ask for progress. */
  readonly progress?: ReportProgress | undefined;
  /** What limits the calls of this client; undefined if nothing does. */
  readonly limits?: ClientLimits | undefined;
  /** How the result is written; by default as structured content and text. */
  readonly results?: ResultForm | undefined;
}
