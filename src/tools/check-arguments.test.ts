import { expect, test } from 'vitest';
import * as z from 'zod';
import { argumentChecker, isStepped, steppedChecker } from './check-arguments.ts';

const check = argumentChecker(
  z.strictObject({
    path: z.string(),
    limit_lines: z.int().min(1).optional(),
    port: z.int().min(0).max(10).default(3),
    mode: z.enum(['create', 'append']).optional(),
    deep: z.boolean().optional(),
    seconds: z.number().positive().optional(),
    name: z.string().min(1, 'a name cannot be empty').optional(),
    files: z.array(z.strictObject({ path: z.string() })).optional(),
  }),
);

function problems(value: unknown): unknown {
  const checked = check(value);
  return 'problems' in checked ? checked.problems : checked;
}

test('a valid value comes back with its defaults', () => {
  expect(check({ path: 'a' })).toEqual({ value: { path: 'a', port: 3 } });
});

test.each([
  [{}, 'path', 'missing', 'path is required'],
  [{ path: undefined }, 'path', 'missing', 'path is required'],
  [{ path: null }, 'path', 'invalid', 'path must be a string, got null'],
  [{ path: 'a', foo: 1 }, 'foo', 'unknown', expect.stringMatching(/^unknown parameter: foo; known are /)],
  [{ path: 'a', prot: 1 }, 'prot', 'unknown', 'unknown parameter: prot (did you mean port?)'],
  [{ path: 'a', limit_lines: '5' }, 'limit_lines', 'invalid', 'limit_lines must be an integer of at least 1, got "5"'],
  [{ path: 'a', limit_lines: 0 }, 'limit_lines', 'invalid', 'limit_lines must be an integer of at least 1, got 0'],
  [{ path: 'a', limit_lines: 1.5 }, 'limit_lines', 'invalid', 'limit_lines must be an integer of at least 1, got 1.5'],
  [{ path: 'a', port: 11 }, 'port', 'invalid', 'port must be an integer from 0 to 10, got 11'],
  [{ path: 'a', seconds: 0 }, 'seconds', 'invalid', 'seconds must be a number above 0, got 0'],
  [{ path: 'a', mode: 'x' }, 'mode', 'invalid', 'mode must be one of "create", "append", got "x"'],
  [{ path: 'a', deep: 'yes' }, 'deep', 'invalid', 'deep must be true or false, got "yes"'],
  [{ path: 'a', name: '' }, 'name', 'invalid', 'a name cannot be empty'],
  [{ path: 'a', files: [{}] }, 'files.0.path', 'missing', 'files.0.path is required'],
  [{ path: 'a', files: {} }, 'files', 'invalid', 'files must be a list, got an object'],
  [[], '', 'invalid', 'the parameters must be an object, got a list'],
])('%j', (value, argument, kind, message) => {
  expect(problems(value)).toEqual([{ argument, kind, message }]);
});

test('every problem is reported, and a huge value is truncated', () => {
  const found = problems({ limit_lines: 'x'.repeat(10_000), a: 1, b: 2 }) as { message: string }[];
  expect(found).toHaveLength(4);
  expect(JSON.stringify(found).length).toBeLessThan(1_000);
});

const entry = z.strictObject({
  name: z.string(),
  mtime: z.union([z.number(), z.string()]).optional(),
  get children() {
    return z.array(entry).optional();
  },
});
const tree = z.strictObject({ entries: z.array(entry), few: z.array(z.string()).max(9).optional() });
const checkTree = argumentChecker(tree);

test.each([
  [[{ name: 'a', children: [{ name: 3 }] }], 'entries.0.children.0.name must be a string, got 3'],
  [[{ name: 'a', children: [{}] }], 'entries.0.children.0.name is required'],
  [[{ name: 'a', children: [{ name: 'b', nam: 1 }] }], /unknown parameter: entries\.0\.children\.0\.nam .*name/],
  [[{ name: 'a', mtime: [] }], 'entries.0.mtime must be a number or a string, got a list'],
])('recursive schemas and unions are described: %j', (entries, message) => {
  const checked = checkTree({ entries });
  expect('problems' in checked && checked.problems.map((problem) => problem.message)).toEqual([
    typeof message === 'string' ? message : expect.stringMatching(message),
  ]);
});

test('a value that is nested too deeply for the stack is a problem, not a crash', () => {
  let deep: object = { name: 'x' };
  for (let depth = 0; depth < 100_000; depth += 1) deep = { name: 'x', children: [deep] };
  expect(checkTree({ entries: [deep] })).toMatchObject({
    problems: [{ kind: 'invalid', message: 'the parameters must not be nested so deeply' }],
  });
});

const many = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);

test.each([
  ['unknown arguments', Object.fromEntries(many(40_000, 0).map((_, index) => [`k${index}`, 0])), 10],
  ['items without fields', { entries: many(20_000, {}) }, 1],
  ['items that are wrong in everything', { entries: many(10_000, { name: 1, mtime: null, children: 2, x: 3 }) }, 4],
  ['wrong items after right ones', { entries: [...many(20_000, { name: 'a' }), ...many(20_000, 0)] }, 1],
  ['wrong items in an item', { entries: [{ name: 'a', children: many(40_000, 0) }] }, 1],
  ['too many items', { few: many(2_000, 0), entries: [] }, 1],
  ['a wrong object around right items', { entries: many(20_000, { name: 'a' }), x: 1 }, 1],
])('of %s, the first few are described', (_, value, count) => {
  const checked = checkTree(value);
  expect('problems' in checked && checked.problems).toHaveLength(count);
});

test('a part of a large value is described by its place in the whole', () => {
  const children = [...many(2_000, { name: 'a' }), { name: 3, nam: 1 }];
  const checked = checkTree({ entries: [{ name: 'a', children }] });
  expect('problems' in checked && checked.problems).toEqual([
    {
      argument: 'entries.0.children.2000.name',
      kind: 'invalid',
      message: 'entries.0.children.2000.name must be a string, got 3',
    },
    {
      argument: 'entries.0.children.2000.nam',
      kind: 'unknown',
      message: 'unknown parameter: entries.0.children.2000.nam (did you mean entries.0.children.2000.name?)',
    },
  ]);
});

test('a large value that is right comes back whole', () => {
  const entries = many(5_000, { name: 'a', children: [{ name: 'b' }] });
  expect(checkTree({ entries })).toEqual({ value: { entries }, isLarge: true });
});

test('a large value is checked in many steps, a small one at once', () => {
  const begin = steppedChecker(tree);
  expect(begin({ entries: [] })).toEqual({ value: { entries: [] } });
  for (const entries of [many(5_000, { name: 'a' }), [{ name: 'a', children: many(5_000, { name: 'a' }) }]]) {
    const steps = begin({ entries });
    if (!isStepped(steps)) throw new Error('checked at once');
    // Spreading takes what is yielded, not what is returned.
    expect([...steps].length).toBeGreaterThan(15);
  }
});

test.each([10, 2_000])('a list of %i items where nine are allowed is described by its limit', (count) => {
  expect(checkTree({ entries: [], few: many(count, 'a') })).toMatchObject({
    problems: [{ argument: 'few', message: 'few must be a list of 0 to 9 items, got a list' }],
  });
});
