import fs from 'node:fs';
import { expect, test } from 'vitest';
import { SPEC_IDS } from './spec-ids.ts';

const ID = /\b(?:E2E|FR|NFR)-\d{3}\b/g;
/** The title is the first argument of `test(…)`, `describe(…)` or of what their `each(…)` returns. A skipped test verifies nothing. */
const TITLE = /(?:\b(?:test|it|describe)|\))\(\s*(['"`])((?:\\.|(?!\1)[^\\\n])*)\1/g;

/** The ids in the titles of all tests of this folder, each with the files that cite it. */
function citations(): Map<string, string[]> {
  const cited = new Map<string, string[]>();
  for (const file of fs.readdirSync(import.meta.dirname).filter((name) => name.endsWith('.test.ts'))) {
    const source = fs.readFileSync(`${import.meta.dirname}/${file}`, 'utf8');
    for (const [, , title = ''] of source.matchAll(TITLE)) {
      for (const [id] of title.matchAll(ID)) cited.set(id, [...(cited.get(id) ?? []), file]);
    }
  }
  return cited;
}

test('every id of the specification is cited by a test', () => {
  const cited = citations();
  expect(SPEC_IDS.filter((id) => !cited.has(id))).toEqual([]);
});

test('no test cites an id that the specification does not have', () => {
  const unknown = [...citations()].filter(([id]) => !SPEC_IDS.includes(id));
  expect(unknown).toEqual([]);
});
