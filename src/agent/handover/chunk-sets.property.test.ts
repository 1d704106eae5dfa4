import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ChunkSets, type HandoverChunk } from './chunk-sets.ts';
import { sha256 } from './handover-file.ts';

interface Sent {
  readonly path: string;
  readonly file: HandoverChunk;
}

/** A file cut into pieces at any places, as bytes or as text. */
const cutFile = fc
  .record({
    text: fc.string({ unit: 'binary', maxLength: 40 }).filter((text) => text.isWellFormed()),
    cuts: fc.array(fc.nat(40), { maxLength: 6 }),
    binary: fc.boolean(),
    hashes: fc.boolean(),
  })
  .map(({ text, cuts, binary, hashes }) => {
    const whole = Buffer.from(text);
    const length = binary ? whole.length : text.length;
    const places = [0, ...cuts.map((cut) => Math.min(cut, length)).sort((a, b) => a - b), length];
    const contents = places
      .slice(1)
      .map((end, i) => (binary ? whole.subarray(places[i], end).toString('base64') : text.slice(places[i], end)));
    const more = { binary, ...(hashes && { sha256: sha256(whole) }) };
    return { whole, contents, more };
  });

const order = fc.array(fc.record({ at: fc.nat(), again: fc.boolean() }), { minLength: 40, maxLength: 40 });

test('files are assembled from chunks in any order, repeated and interleaved', () => {
  fc.assert(
    fc.property(fc.array(cutFile, { minLength: 1, maxLength: 3 }), order, (files, picks) => {
      const sets = new ChunkSets({ maxBytes: 10_000 });
      const left: Sent[] = files.flatMap(({ contents, more }, n) =>
        contents.map((content, index) => ({
          path: `${n}`,
          file: { path: `${n}`, content, ...more, chunk: { index, total: contents.length } },
        })),
      );
      const done = new Map<string, Buffer>();
      const send = ({ path, file }: Sent) => {
        const received = sets.receive(path, file);
        if (received !== 'repeated' && 'file' in received) {
          expect(done.has(path)).toBe(false);
          done.set(path, received.file.bytes);
        }
      };
      for (const { at, again } of picks) {
        const next = left[at % Math.max(left.length, 1)];
        if (next === undefined) break;
        send(next);
        if (!again) left.splice(left.indexOf(next), 1);
      }
      for (const rest of left) send(rest);
      expect(Object.fromEntries(done)).toEqual(Object.fromEntries(files.map(({ whole }, n) => [`${n}`, whole])));
      expect([sets.size, sets.bytes]).toEqual([0, 0]);
    }),
    { numRuns: 300 },
  );
});
