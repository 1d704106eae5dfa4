import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    globalSetup: ['tests/support/build.ts', 'tests/support/figures.ts'],
    include: ['tests/**/*.cluster.test.ts'],
    maxWorkers: 1,
    expect: { poll: { timeout: 10_000 } },
  },
});
