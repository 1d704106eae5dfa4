const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const letters = (random, count) => Array.from({ length: count }, () => LOWER[random.below(26)]).join('');

/**
 * The patterns that are searched for. Each means the same in RE2 and in ripgrep, and is planted in the data often enough
 * to be found and seldom enough for all matches to be returned.
 */
export const NEEDLES = [
  {
    kind: 'a literal',
    pattern: 'reconcileLedgerSnapshot',
    sample: () => 'reconcileLedgerSnapshot',
  },
  {
    kind: 'a regex with a literal',
    pattern: 'migrate[A-Z][a-z]+Checkpoint\\(',
    sample: (random) => `migrate${letters(random, 1).toUpperCase()}${letters(random, 5)}Checkpoint(state)`,
  },
  {
    kind: 'a regex without',
    pattern: '[a-z]{2}[0-9]{6}[a-z]{2}',
    sample: (random) => `${letters(random, 2)}${String(random.below(1_000_000)).padStart(6, '0')}${letters(random, 2)}`,
  },
];
