import { describe, expect, test } from 'vitest';
import { recordFigure } from '../support/figures.ts';
import { isInstalled, runSuite, TARGETS } from './suite.js';

/** The newest suite, in the newest revision of each era; `npm run conformance` runs all. */
const SUITE = '0.2.0-alpha.12';
const RUNS = [
  ['real', '2025-11-25'],
  ['fixtures', '2025-11-25'],
  ['fixtures', '2026-07-28'],
] as const;

const why = isInstalled() ? '' : ' (skipped: the suite is not installed, npm run conformance installs it)';

describe.skipIf(why !== '')(`the official conformance suite${why}`, () => {
  test.each(RUNS)('%s server, %s', { timeout: 120_000 }, async (target, revision) => {
    const server = await TARGETS[target].start();
    try {
      const result = await runSuite({ suite: SUITE, revision, target, url: server.url });
      recordFigure(`conformance ${SUITE}, ${target} server, ${revision}: checks passed`, result.passed, 'checks');
      expect(result.unexpected).toEqual([]);
      expect(result.scenarios).toBeGreaterThan(5);
    } finally {
      await server.stop();
    }
  });
});
