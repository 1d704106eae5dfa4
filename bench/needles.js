const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const letters = (random, count) => Array.from({ length: count }, () => LOWER[random.below(26)]).join('');
const capitals = (random, count) => letters(random, count).toUpperCase();
const digits = (random, count) => String(random.below(10 ** count)).padStart(count, '0');
const anyCase = (random, text) => [...text].map((c) => (random.chance(0.5) ? c.toUpperCase() : c)).join('');

/** What is searched for, in the order of the report, and how much of ripgrep's time a search of the tree may take. */
export const KINDS = {
  literal: { title: 'a literal', target: 1.5 },
  anyCase: { title: 'a literal in any case', target: 1.5 },
  withLiteral: { title: 'a regex with a literal', target: 2 },
  withoutLiteral: { title: 'a regex without', target: 3.5 },
};

/**
 * The patterns that are searched for, several of each kind, so that nothing is made for a single one. Each means the
 * same in RE2 and in ripgrep, and is planted in the data often enough to be found and seldom enough for all matches to
 * be returned. `ownLine` is planted as a line by itself, so a log, whose lines begin with a time, has none.
 */
export const NEEDLES = [
  { kind: 'literal', pattern: 'reconcileLedgerSnapshot', sample: () => 'reconcileLedgerSnapshot' },
  { kind: 'literal', pattern: 'QUOTA_EXHAUSTED', sample: () => 'QUOTA_EXHAUSTED' },
  { kind: 'literal', pattern: 'größte Abweichung', sample: () => 'größte Abweichung' },
  {
    kind: 'anyCase',
    pattern: 'stalebarrierepoch',
    ignoreCase: true,
    sample: (random) => anyCase(random, 'stalebarrierepoch'),
  },
  {
    kind: 'anyCase',
    pattern: 'kiosk-key',
    ignoreCase: true,
    // K is also the sign for kelvin, which has a lower case of its own.
    sample: (random) => anyCase(random, random.chance(0.1) ? 'kios\u212a-key' : 'kiosk-key'),
  },
  {
    kind: 'withLiteral',
    pattern: 'migrate[A-Z][a-z]+Checkpoint\\(',
    sample: (random) => `migrate${capitals(random, 1)}${letters(random, 5)}Checkpoint(state)`,
  },
  {
    // Nearly every file has the literals of this one, but hardly ever in this way.
    kind: 'withLiteral',
    pattern: 'this\\.[a-z]+ = await [a-z]+[0-9]{4}\\(',
    sample: (random) => `this.${letters(random, 6)} = await ${letters(random, 4)}${digits(random, 4)}()`,
  },
  {
    kind: 'withLiteral',
    pattern: '\\b(acquire|release|renew)\\w*Lease\\b',
    sample: (random) => `${random.pick(['acquire', 'release', 'renew'])}${letters(random, 3)}Lease`,
  },
  {
    kind: 'withoutLiteral',
    pattern: '[a-z]{2}[0-9]{6}[a-z]{2}',
    sample: (random) => `${letters(random, 2)}${digits(random, 6)}${letters(random, 2)}`,
  },
  {
    kind: 'withoutLiteral',
    // No word edge: ripgrep's, which knows all letters, takes it ten times as long on text that is not all ASCII.
    pattern: '[A-Z]{4,}[0-9]{3,}',
    sample: (random) => `${capitals(random, 4 + random.below(4))}${digits(random, 3 + random.below(4))}`,
  },
  {
    kind: 'withoutLiteral',
    pattern: '^\\s*[0-9]+\\s+[0-9]+\\s+[0-9]+$',
    ownLine: true,
    sample: (random) => `${digits(random, 4)} ${digits(random, 2)}  ${digits(random, 7)}`,
  },
];
