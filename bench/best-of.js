/**
 * Times contenders in turns, so that a busy moment of the machine hits all of them, and keeps each one's best time in
 * milliseconds. A contender is a function that does the work once and returns the time it took; each runs once before,
 * unmeasured, to be warm, unless there is only one round. The order turns round with every round.
 */
export async function bestOf(rounds, contenders) {
  const entries = Object.entries(contenders);
  const best = Object.fromEntries(entries.map(([name]) => [name, Number.POSITIVE_INFINITY]));
  for (const [, run] of rounds > 1 ? entries : []) await run();
  for (let round = 0; round < rounds; round++) {
    for (const [name, run] of round % 2 === 0 ? entries : entries.toReversed()) {
      best[name] = Math.min(best[name], await run());
    }
  }
  return best;
}
