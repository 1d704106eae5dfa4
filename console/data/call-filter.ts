import type { Call } from './api-types.ts';

/** What calls to show; an empty string means any. */
export interface CallFilter {
  readonly client: string;
  readonly tool: string;
  readonly root: string;
  readonly outcome: '' | 'success' | 'error' | 'violation';
  readonly text: string;
}

export const ANY_CALL: CallFilter = { client: '', tool: '', root: '', outcome: '', text: '' };

/** Returns whether a filter lets a call through. Text is looked for in every field that the list shows, in any case. */
export function matcherOf(filter: CallFilter): (call: Call) => boolean {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  return (call) =>
    (filter.client === '' || call.client === filter.client) &&
    (filter.tool === '' || call.tool === filter.tool) &&
    (filter.root === '' || call.root === filter.root) &&
    (filter.outcome === '' || (filter.outcome === 'violation' ? call.violation : call.outcome === filter.outcome)) &&
    (words.length === 0 || containsAll(call, words));
}

function containsAll(call: Call, words: readonly string[]): boolean {
  const text =
    `${call.path ?? ''}\n${call.tool}\n${call.client ?? ''}\n${call.root ?? ''}\n${call.code ?? ''}\n${call.token ?? ''}`.toLowerCase();
  return words.every((word) => text.includes(word));
}
