import { RingfenceError } from '../../errors.ts';
import type { Refusal } from '../../fence/index.ts';
import { type CallError, isCode } from '../../tools/errors.ts';
import type { Roots } from '../../tools/roots.ts';

/** Returns the rule of a root because of which a call failed, for the log: clients are told only that there is no such file. */
export function decidingRule(error: CallError, roots: Roots): Refusal | undefined {
  if (isCode(error, 'not_allowed')) return error.details;
  const { path, root: name } = error;
  if (!isCode(error, 'not_found') || path === undefined || name === undefined || !roots.has(name)) return undefined;
  const found = roots.find(name, []);
  if (found.kind === 'agent') return undefined;
  const { root } = found;
  try {
    const refusal = root.explain(root.parse(path));
    return refusal?.rule === 'deny' ? refusal : undefined;
  } catch (thrown) {
    if (thrown instanceof RingfenceError) return undefined;
    throw thrown;
  }
}
