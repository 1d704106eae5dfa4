import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'tests/**/*.test.ts', 'bench/*.test.ts'],
    exclude: ['tests/**/*.{torture,cluster}.test.ts'],
    globalSetup: ['tests/support/build.ts', 'tests/support/figures.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    maxWorkers: 2,
  },
});
