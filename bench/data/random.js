/** A seeded source of numbers (mulberry32), so that every run on every machine gets the same data. */
export class Random {
  #state;

  constructor(seed) {
    this.#state = seed >>> 0;
  }

  /** In [0, 1). */
  next() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** An integer in [0, limit). */
  below(limit) {
    return Math.floor(this.next() * limit);
  }

  pick(items) {
    return items[this.below(items.length)];
  }

  chance(probability) {
    return this.next() < probability;
  }

  /** Long-tailed: half of the values are below `median`, the mean is `median * exp(sigma ** 2 / 2)`. */
  logNormal(median, sigma) {
    const normal = Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next());
    return median * Math.exp(sigma * normal);
  }
}
