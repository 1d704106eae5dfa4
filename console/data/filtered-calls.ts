import type { Call } from './api-types.ts';
import { ANY_CALL, type CallFilter, matcherOf } from './call-filter.ts';
import { CallList } from './call-list.ts';

/** As many calls as are looked at in one go, so that the page stays responsive while all are filtered. */
const SLICE = 10_000;

/** All calls and those of them that a filter lets through. */
export class FilteredCalls {
  readonly #all = new CallList();
  readonly #onChange: () => void;
  #filter: CallFilter = ANY_CALL;
  #matches: (call: Call) => boolean = () => true;
  #shown = this.#all;
  #addedWhileShown = 0;
  #scan: ReturnType<typeof setTimeout> | undefined;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get filter(): CallFilter {
    return this.#filter;
  }

  /** How many calls there are, whatever the filter. */
  get total(): number {
    return this.#all.length;
  }

  get newestId(): number {
    return this.#all.at(0)?.id ?? 0;
  }

  get oldestId(): number | undefined {
    return this.#all.at(this.#all.length - 1)?.id;
  }

  /** The calls that the filter lets through. */
  get shown(): CallList {
    return this.#shown;
  }

  /** How many calls were put on top of `shown` since the filter was set. */
  get addedOnTop(): number {
    return this.#addedWhileShown;
  }

  addNewer(calls: readonly Call[]): void {
    const newest = this.newestId;
    for (const call of calls) {
      if (call.id <= newest) continue;
      this.#all.addNewer(call);
      if (!this.#matches(call)) continue;
      if (this.#shown !== this.#all) this.#shown.addNewer(call);
      this.#addedWhileShown += 1;
    }
    this.#onChange();
  }

  addOlder(calls: readonly Call[]): void {
    for (const call of calls) {
      this.#all.addOlder(call);
      // While a scan is under way, it gets to these by itself.
      if (this.#shown !== this.#all && this.#scan === undefined && this.#matches(call)) this.#shown.addOlder(call);
    }
    this.#onChange();
  }

  setFilter(filter: CallFilter): void {
    clearTimeout(this.#scan);
    this.#scan = undefined;
    this.#filter = filter;
    this.#addedWhileShown = 0;
    const isAny = Object.values(filter).every((value) => value === '');
    this.#matches = isAny ? () => true : matcherOf(filter);
    this.#shown = isAny ? this.#all : new CallList();
    if (!isAny) this.#scanFrom(this.newestId);
    this.#onChange();
  }

  /** Adds what matches among the calls up to an id, newest first, a slice at a time. */
  #scanFrom(newest: number): void {
    let index = 0;
    while ((this.#all.at(index)?.id ?? 0) > newest) index += 1;
    const end = Math.min(index + SLICE, this.#all.length);
    for (; index < end; index += 1) {
      const call = this.#all.at(index);
      if (call !== undefined && this.#matches(call)) this.#shown.addOlder(call);
    }
    const next = this.#all.at(end)?.id;
    this.#scan = next === undefined ? undefined : setTimeout(() => this.#scanFrom(next));
    this.#onChange();
  }
}
