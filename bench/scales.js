const MB = 1_000_000;

/**
 * How much data a run works on, and how often each thing is done. `iterations` scales the number of calls in a round, and
 * how long a round of many clients lasts; `rounds` is what "best of" counts.
 */
export const SCALES = {
  /** For the test: everything happens, nothing takes long. */
  tiny: { files: 200, folderEntries: 300, bigBytes: MB, logBytes: MB, rounds: 1, iterations: 0.02 },
  quick: { files: 5_000, folderEntries: 10_000, bigBytes: 50 * MB, logBytes: 150 * MB, rounds: 5, iterations: 0.3 },
  standard: {
    files: 20_000,
    folderEntries: 10_000,
    bigBytes: 200 * MB,
    logBytes: 200 * MB,
    rounds: 5,
    iterations: 0.5,
  },
  /** What the targets are about. */
  full: { files: 90_000, folderEntries: 10_000, bigBytes: 500 * MB, logBytes: 1_000 * MB, rounds: 5, iterations: 1 },
};
