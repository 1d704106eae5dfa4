import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import { foreignOriginProblem, isLoopbackAddress } from './access-control.ts';

function foreign(headers: IncomingMessage['headers'], loopbackOnly = true): boolean {
  return foreignOriginProblem({ headers } as IncomingMessage, loopbackOnly) !== undefined;
}

describe('Origin', () => {
  test.each([
    'http://localhost',
    'http://localhost:3000',
    'https://127.0.0.1:8091',
    'http://[::1]:5',
    'http://127.0.0.2',
  ])('%s may call', (origin) => {
    expect(foreign({ origin, host: 'localhost' })).toBe(false);
  });

  test.each([
    'http://evil.example',
    'http://localhost.evil.example',
    'http://evil.example:80@localhost.evil',
    'http://evil.example/localhost',
    'http://localhost@evil.example',
    'http://127.0.0.1.evil.example',
    'http://127.0.0.256',
    'http://128.0.0.1',
    'file://localhost',
    'null',
    '',
    'localhost',
  ])('%j may not', (origin) => {
    expect(foreign({ origin, host: 'localhost' })).toBe(true);
    expect(foreign({ origin, host: 'localhost' }, false)).toBe(true);
  });
});

describe('Host, bound to loopback', () => {
  test.each(['localhost', 'LOCALHOST:80', '127.0.0.1:8091', '127.0.0.2:8091', '[::1]:8091'])(
    '%s may be called',
    (host) => {
      expect(foreign({ host })).toBe(false);
    },
  );

  test.each([
    'evil.example',
    'localhost.evil.example:8091',
    '',
    '127.0.0.1.evil',
    '127.0.0.256',
    '127.1',
    '128.0.0.1',
    'localhost:80:80',
    '::1:80',
  ])('%j may not', (host) => {
    expect(foreign({ host })).toBe(true);
    expect(foreign({ host }, false)).toBe(false);
  });
});

test.each([
  ['127.0.0.1', true],
  ['127.1.2.3', true],
  ['localhost', true],
  ['Localhost', true],
  ['[::1]', true],
  ['::1', true],
  ['0.0.0.0', false],
  ['::', false],
  ['192.168.0.1', false],
  ['127.0.0.1.example', false],
  ['127.0.0.256', false],
])('isLoopbackAddress(%s) is %s', (host, expected) => {
  expect(isLoopbackAddress(host)).toBe(expected);
});
