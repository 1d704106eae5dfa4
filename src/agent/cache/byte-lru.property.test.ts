import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ByteLru } from './byte-lru.ts';

interface Entry {
  readonly key: string;
  readonly value: number;
  readonly bytes: number;
}

/** The same by the book: a list from the least to the most recently used. */
class Model {
  entries: Entry[] = [];

  constructor(
    readonly maxBytes: number,
    readonly maxEntries: number,
  ) {}

  get bytes(): number {
    return this.entries.reduce((sum, entry) => sum + entry.bytes, 0);
  }

  set(entry: Entry): { entries: number; bytes: number } | 'refused' {
    if (entry.bytes > this.maxBytes) return 'refused';
    this.entries = this.entries.filter(({ key }) => key !== entry.key);
    const gone: Entry[] = [];
    while (this.bytes + entry.bytes > this.maxBytes || this.entries.length >= this.maxEntries)
      gone.push(this.entries.shift() as Entry);
    this.entries.push(entry);
    return { entries: gone.length, bytes: gone.reduce((sum, { bytes }) => sum + bytes, 0) };
  }

  get(key: string): number | undefined {
    const found = this.entries.find((entry) => entry.key === key);
    if (found !== undefined) this.entries = [...this.entries.filter((entry) => entry !== found), found];
    return found?.value;
  }

  delete(key: string): void {
    this.entries = this.entries.filter((entry) => entry.key !== key);
  }
}

const key = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
const step = fc.oneof(
  fc.record({ do: fc.constant('set' as const), key, value: fc.nat(), bytes: fc.nat(120) }),
  fc.record({ do: fc.constantFrom('get' as const, 'peek' as const, 'delete' as const), key }),
);

test('it behaves like a plain list for any sequence of operations', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 5 }), (steps, maxEntries) => {
      const lru = new ByteLru<number>(100, maxEntries);
      const model = new Model(100, maxEntries);
      for (const one of steps) {
        if (one.do === 'set') {
          const expected = model.set(one);
          if (expected === 'refused') expect(() => lru.set(one.key, one.value, one.bytes)).toThrow(/Too large/);
          else expect(lru.set(one.key, one.value, one.bytes)).toEqual(expected);
        } else if (one.do === 'get') expect(lru.get(one.key)).toBe(model.get(one.key));
        else if (one.do === 'peek') expect(lru.peek(one.key)).toBe(model.entries.find((e) => e.key === one.key)?.value);
        else {
          model.delete(one.key);
          lru.delete(one.key);
        }
        expect([...lru.keys()]).toEqual(model.entries.map((entry) => entry.key));
        expect([lru.bytes, lru.size]).toEqual([model.bytes, model.entries.length]);
      }
    }),
    { numRuns: 300 },
  );
});
