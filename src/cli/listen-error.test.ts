import { expect, test } from 'vitest';
import { ListenError } from './listen-error.ts';

test('a ListenError has its own name', () => {
  expect(String(new ListenError('port 1 is in use'))).toBe('ListenError: port 1 is in use');
});
