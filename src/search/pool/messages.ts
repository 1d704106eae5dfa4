import type { SearchSpec } from '../task/specs.ts';
import type { PackedResults } from './work-unit.ts';

/** Units of a search to work on. The result is what they turned into: some may be units again once the budget was spent. */
export interface SearchTask {
  /** The number of the search. */
  readonly search: number;
  readonly units: PackedResults<never>;
  readonly budget: number;
}

export type TaskResult = PackedResults<unknown>;

/** The beginning and the end of a search that a worker takes part in. */
export type SearchNotice =
  | {
      readonly type: 'begin';
      readonly search: number;
      readonly spec: SearchSpec;
      readonly stop: SharedArrayBuffer;
      readonly steal: SharedArrayBuffer;
    }
  | { readonly type: 'end'; readonly search: number };
