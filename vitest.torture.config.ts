import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    globalSetup: ['tests/support/build.ts', 'tests/support/figures.ts'],
    include: ['tests/**/*.torture.test.ts'],
    testTimeout: 300_000,
    maxWorkers: 1,
  },
});
