import { checkpoints, type History } from '../history/index.ts';
import { type ChangeFilter, type PastChange, type PastMoment, selectChanges } from '../undo/index.ts';
import { looksLikeChangeId, parseMoment } from './moment.ts';

/** A moment that a list of changes can begin at: a time, with what happened at it, or just before a change. */
export type StartMoment = Exclude<PastMoment, { readonly after: string }>;

/**
 * Finds the moment that a person has written: the name of a checkpoint, a duration before now, an ISO time, or the id of
 * a change, which stands for the moment just before it. Undefined if it is none of these.
 */
export function findMoment(history: History, text: string): StartMoment | undefined {
  const checkpoint = checkpoints(history).find(({ name }) => name === text);
  if (checkpoint !== undefined) return checkpoint.time + 1;
  const moment = parseMoment(text, Date.now());
  if (moment === undefined) return undefined;
  if ('time' in moment) return moment.time;
  const isChange = looksLikeChangeId(text) && selectChanges(history, { ids: [text] }).length > 0;
  return isChange ? { before: text } : undefined;
}

/** Returns the changes since a moment that a filter fits, newest first. */
export function changesSince(history: History, moment: StartMoment, filter: ChangeFilter = {}): PastChange[] {
  if (typeof moment === 'number') return selectChanges(history, { ...filter, since: moment });
  const later = selectChanges(history, { ...filter, sinceChange: moment.before });
  return [...later, ...selectChanges(history, { ...filter, ids: [moment.before] })];
}
