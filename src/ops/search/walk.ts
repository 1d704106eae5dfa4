import { isCode } from '../../errors.ts';
import type { Entry, EntryType } from '../../fence/index.ts';
import { byCodePoint } from '../code-point-order.ts';
import type { StopFlag } from './stop-flag.ts';
import { type Place, pathIn, placeIn, START, type Trail } from './trail.ts';

export interface WalkOptions {
  readonly trail: Trail;
  readonly stop: StopFlag;
  /** Only these are visited; folders are entered in any case. */
  readonly types: ReadonlySet<EntryType>;
  /** 1 is the start's direct children, 0 nothing at all. */
  readonly maxDepth: number;
  readonly skipHidden: boolean;
  /** Whether to look into a folder. */
  enters(path: string): boolean;
  /** Told of each folder that cannot be read. */
  skipped(): void;
}

export interface Visit {
  /** The folder it is in. */
  readonly place: Place;
  readonly entry: Entry;
  /** Relative to the start. */
  readonly path: string;
}

interface Step {
  /** Where it comes in path order: a folder's content comes at its name and a slash. */
  readonly key: string;
  readonly entry: Entry;
  readonly enter: boolean;
}

interface Frame {
  readonly place: Place;
  /** In reverse, so that the next one is the last. */
  readonly steps: Step[];
}

/**
 * Visits what is below a folder in path order: by code point of the whole relative path, so `a.b` comes before `a/b`.
 * Links are visited, never followed. A folder that has vanished or may not be read is left out, the start itself
 * raises its error. Yields undefined now and then where there is nothing to visit, so that the caller may pause.
 */
export function* walk(options: WalkOptions): Generator<Visit | undefined, void> {
  if (options.maxDepth < 1) return;
  const frames: Frame[] = [{ place: START, steps: stepsIn(START, options) }];
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    const step = frame.steps.pop();
    if (options.stop.raised) return;
    if (step === undefined) {
      frames.pop();
    } else if (!step.enter) {
      yield { place: frame.place, entry: step.entry, path: pathIn(frame.place, step.entry.name) };
    } else {
      const place = placeIn(frame.place, step.entry.raw);
      if (!options.enters(place.path)) continue;
      try {
        frames.push({ place, steps: stepsIn(place, options) });
      } catch (error) {
        if (!isSkippable(error)) throw error;
        options.skipped();
      }
      yield undefined;
    }
  }
}

/** What a search leaves out when a single folder or file raises it; anything else ends the search. */
export function isSkippable(error: unknown): boolean {
  return isCode(
    error,
    'not_found',
    'not_directory',
    'is_directory',
    'permission_denied',
    'link_loop',
    'special_file',
    'outside_root',
    'name_too_long',
    'io_error',
  );
}

function stepsIn(place: Place, { trail, types, maxDepth, skipHidden }: WalkOptions): Step[] {
  const steps: Step[] = [];
  const entersFolders = place.depth + 1 < maxDepth;
  for (const entry of trail.enter(place).list()) {
    if (skipHidden && entry.name.startsWith('.')) continue;
    if (types.has(entry.type)) steps.push({ key: entry.name, entry, enter: false });
    if (entry.type === 'directory' && entersFolders) steps.push({ key: `${entry.name}/`, entry, enter: true });
  }
  return steps.sort((a, b) => byCodePoint(b.key, a.key) || byRawName(b.entry, a.entry));
}

/** Names that are not UTF-8 may look the same. */
function byRawName(a: Entry, b: Entry): number {
  return Buffer.compare(Buffer.from(a.raw as string), Buffer.from(b.raw as string));
}
