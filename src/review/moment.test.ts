import { describe, expect, test } from 'vitest';
import { looksLikeChangeId, parseMoment } from './moment.ts';

const NOW = Date.parse('2026-03-04T05:06:07Z');

describe('a moment', () => {
  test.each([
    ['90s', '2026-03-04T05:04:37Z'],
    ['15m', '2026-03-04T04:51:07Z'],
    ['1h30m', '2026-03-04T03:36:07Z'],
    ['2d', '2026-03-02T05:06:07Z'],
    ['1w', '2026-02-25T05:06:07Z'],
    ['2026-03-01T10:00Z', '2026-03-01T10:00:00Z'],
    ['2026-03-01T10:00:05.5+02:00', '2026-03-01T08:00:05.500Z'],
    ['2026-03-01 10:00Z', '2026-03-01T10:00:00Z'],
  ])('%s is %s', (text, iso) => {
    expect(parseMoment(text, NOW)).toEqual({ time: Date.parse(iso) });
  });

  test('without a zone is local', () => {
    expect(parseMoment('2026-03-01', NOW)).toEqual({ time: new Date(2026, 2, 1).getTime() });
    expect(parseMoment('2026-03-01T10:00', NOW)).toEqual({ time: new Date(2026, 2, 1, 10).getTime() });
  });

  test('that does not exist is none', () => {
    expect(parseMoment('2026-13-01', NOW)).toBeUndefined();
  });

  test.each(['before-refactoring', '15', 'm15', '15m ago', '2026', '15 m'])('"%s" is a name', (name) => {
    expect(parseMoment(name, NOW)).toEqual({ name });
  });
});

test('ids of changes begin with their time', () => {
  expect(looksLikeChangeId(`${NOW.toString(36)}0abc`)).toBe(true);
  for (const word of ['refactoring1', 'workspaces12', `${NOW.toString(36)}0ab`, `${NOW.toString(36)}0AB-`])
    expect(looksLikeChangeId(word), word).toBe(false);
});
