import { expect, test } from 'vitest';
import { ConfigError } from '../config-error.ts';
import { checkCluster } from './cluster-config.ts';

const NEW = 'n'.repeat(32);
const OLD = 'o'.repeat(40);
const PASSWORD = 'pass-word';
const ENV = {
  ONE: NEW,
  TWO: `${NEW}, ${OLD}`,
  THREE: `${NEW},${OLD},${OLD}`,
  SHORT: 'n'.repeat(31),
  SECOND_SHORT: `${NEW},x`,
  EMPTY: '',
  PASSWORD,
};

function check(secret_env: string, redis = 'redis://127.0.0.1:6379') {
  return checkCluster(
    { secret_env, redis },
    {
      env: ENV,
      fail: (problem) => {
        throw new ConfigError(problem);
      },
    },
  );
}

test('the secrets come from the environment, the one that signs first', () => {
  expect(check('ONE')).toEqual({ secrets: [NEW], redis: 'redis://127.0.0.1:6379' });
  expect(check('TWO').secrets).toEqual([NEW, OLD]);
});

test('the URL may use TLS, a password, a database and variables', () => {
  const url = `rediss://user:${PASSWORD}@redis.example:6380/3`;
  expect(check('ONE', url).redis).toBe(url);
  expect(check('ONE', `redis://:\${PASSWORD}@h`).redis).toBe(`redis://:${PASSWORD}@h`);
});

test.each([
  ['UNSET', /^cluster\.secret_env: the environment variable UNSET is not set/],
  ['EMPTY', /is not set/],
  ['SHORT', /SHORT holds a secret of fewer than 32 characters/],
  ['SECOND_SHORT', /fewer than 32/],
  ['THREE', /more than two secrets/],
  [`${NEW}-`, /must be the name of an environment variable, not the secret/],
])('a secret in %s is a mistake that is not shown', (variable, message) => {
  expect(() => check(variable)).toThrow(message);
  expect(() => check(variable)).not.toThrow(NEW);
});

test.each([
  [`http://:${PASSWORD}@h`, /cluster\.redis: must be a URL such as/],
  [`:${PASSWORD}@h:6379`, /must be a URL/],
  [`redis://:${PASSWORD}@`, /must be a URL/],
  [`redis://:${PASSWORD}@h/x`, /number of a database/],
  [`redis://:\${NO_SUCH}@h`, /variable NO_SUCH is not set/],
])('a wrong URL is a mistake that shows no password: %s', (url, message) => {
  expect(() => check('ONE', url)).toThrow(message);
  expect(() => check('ONE', url)).not.toThrow(PASSWORD);
});
