import fs from 'node:fs';
import { expect, test } from 'vitest';
import { SCENARIO_IDS, SPEC_IDS } from './spec-ids.ts';

const KNOWN: readonly string[] = [...SPEC_IDS, ...SCENARIO_IDS];
/** A number, or a scenario: the latter ends where the title goes on to say what of it is shown, or names the next one. */
const ID = /\b(?:E2E|FR|NFR)-\d{3}\b|\bfilesystem-(?:interaction|tools)\/[^:;]+/g;
/** The title is the first argument of `test(…)`, `describe(…)` or of what their `each(…)` returns. A skipped test verifies nothing. */
const TITLE = /(?:\b(?:test|it|describe)|\))\(\s*(['"`])((?:\\.|(?!\1)[^\\\n])*)\1/g;

/** The ids in the titles of all tests of this folder, each with the files that cite it. */
function citations(): Map<string, string[]> {
  const cited = new Map<string, string[]>();
  for (const file of fs.readdirSync(import.meta.dirname).filter((name) => name.endsWith('.test.ts'))) {
    const source = fs.readFileSync(`${import.meta.dirname}/${file}`, 'utf8');
    for (const [, , title = ''] of source.matchAll(TITLE)) {
      for (const [id] of title.matchAll(ID)) cited.set(id.trim(), [...(cited.get(id.trim()) ?? []), file]);
    }
  }
  return cited;
}

test('every id and scenario of the specifications is cited by a test', () => {
  const cited = citations();
  expect(KNOWN.filter((id) => !cited.has(id))).toEqual([]);
});

test('no test cites an id or a scenario that the specifications do not have', () => {
  const unknown = [...citations()].filter(([id]) => !KNOWN.includes(id));
  expect(unknown).toEqual([]);
});
