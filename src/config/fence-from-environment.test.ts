import { expect, test } from 'vitest';
import { ConfigError } from './config-error.ts';
import { fenceFromEnvironment } from './fence-from-environment.ts';

test('RINGFENCE_FENCE forces a backend', () => {
  expect(fenceFromEnvironment({ RINGFENCE_FENCE: 'portable' }).name).toBe('portable');
});

test('without RINGFENCE_FENCE a working backend is chosen', () => {
  expect(fenceFromEnvironment({ RINGFENCE_FENCE: '' }).name).toBe(fenceFromEnvironment({}).name);
});

test('an unknown name is refused with a suggestion', () => {
  const attempt = (): unknown => fenceFromEnvironment({ RINGFENCE_FENCE: 'openat' });
  expect(attempt).toThrow(ConfigError);
  expect(attempt).toThrow(/RINGFENCE_FENCE.*did you mean openat2/);
});
