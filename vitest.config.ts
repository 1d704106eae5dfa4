import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'tests/**/*.test.ts', 'bench/*.test.ts'],
    exclude: ['tests/**/*.{torture,cluster}.test.ts'],
    globalSetup: ['tests/support/build.ts', 'tests/support/figures.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // A poll ends as soon as it succeeds; on a busy machine that may take longer than the second it has by default.
    expect: { poll: { timeout: 10_000 } },
    maxWorkers: 2,
  },
});
