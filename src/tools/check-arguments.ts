import * as z from 'zod';
import type { ArgumentProblem } from './dialect.ts';
import { firstMismatch, type Mismatch } from './first-mismatch.ts';
import { isLarge } from './is-large.ts';
import { didYouMean } from './nearest.ts';
import { truncate } from './show-value.ts';

/** The JSON Schema keywords that messages are built from. */
interface SchemaNode {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  items?: SchemaNode;
  anyOf?: SchemaNode[];
  properties?: Record<string, SchemaNode>;
  $ref?: string;
  $defs?: Record<string, SchemaNode>;
}

/** How messages name fields and values. */
export interface CheckStyle {
  /** The word for a field: a tool has parameters, a config has keys. */
  readonly noun: 'parameter' | 'key';
  /** Returns the name of a field for messages. */
  name(path: readonly PropertyKey[]): string;
  /** Reports whether messages must not repeat the value at this path, because it may be a secret. */
  hides?(path: readonly PropertyKey[]): boolean;
}

const PARAMETERS: CheckStyle = { noun: 'parameter', name: (path) => path.map(String).join('.') };

/** The parsed value, or what is wrong with it. */
export type CheckedArguments<T> =
  | { readonly value: T /** Whether it took long to check. */; readonly isLarge?: true }
  | { readonly problems: readonly ArgumentProblem[] };

/** How many problems are described. */
const MAX_PROBLEMS = 10;

/** The check of a large value, in steps that take a few milliseconds at most, but for the last one. */
export type CheckSteps<T> = Generator<undefined, CheckedArguments<T>, undefined>;

/**
 * Returns a function that checks a value against a schema. Each problem says what is wrong and what was expected;
 * custom messages of the schema are kept. Only the first ten problems are described, and of a large value only those of
 * the first part that is wrong. The returned function does not throw, not even for a value nested too deeply
 * to check.
 */
export function argumentChecker<S extends z.ZodObject>(
  schema: S,
  style: CheckStyle = PARAMETERS,
): (value: unknown) => CheckedArguments<z.output<S>> {
  const begin = steppedChecker(schema, style);
  return (value) => {
    const begun = begin(value);
    if (!isStepped(begun)) return begun;
    for (;;) {
      const step = begun.next();
      if (step.done) return step.value;
    }
  };
}

/** Returns a function like that of `argumentChecker`, but a large value is checked while its caller takes the steps. */
export function steppedChecker<S extends z.ZodObject>(
  schema: S,
  style: CheckStyle = PARAMETERS,
): (value: unknown) => CheckedArguments<z.output<S>> | CheckSteps<z.output<S>> {
  let node: SchemaNode | undefined;
  const failed = (mismatch: Mismatch): { problems: ArgumentProblem[] } => {
    node ??= z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as SchemaNode;
    return { problems: problemsOf(mismatch, node, style) };
  };
  /** A recursive schema recurses as deep as the value is nested, which can overflow the stack. */
  const tooDeep = (thrown: unknown): { problems: ArgumentProblem[] } => {
    if (!(thrown instanceof RangeError)) throw thrown;
    const message = `the ${style.noun}s must not be nested so deeply`;
    return { problems: [{ argument: '', kind: 'invalid', message }] };
  };
  function* checkLarge(value: unknown): CheckSteps<z.output<S>> {
    try {
      const mismatch = yield* firstMismatch(schema, value);
      if (mismatch !== undefined) return failed(mismatch);
      yield;
      const parsed = schema.safeParse(value);
      return parsed.success ? { value: parsed.data, isLarge: true } : failed({ path: [], schema, value });
    } catch (thrown) {
      return tooDeep(thrown);
    }
  }
  return (value) => {
    try {
      if (isLarge(value)) return checkLarge(value);
      const parsed = schema.safeParse(value);
      return parsed.success ? { value: parsed.data } : failed({ path: [], schema, value });
    } catch (thrown) {
      return tooDeep(thrown);
    }
  };
}

/** Whether a check is still to be done, in steps. */
export function isStepped<T>(begun: CheckedArguments<T> | CheckSteps<T>): begun is CheckSteps<T> {
  return Symbol.iterator in begun;
}

/** Describes what is wrong. Building messages is slow, so a value is parsed again with them only after it failed. */
function problemsOf({ path: above, schema, value }: Mismatch, top: SchemaNode, style: CheckStyle): ArgumentProblem[] {
  const pathOf = (issue: { readonly path?: PropertyKey[] | undefined }) => [...above, ...(issue.path ?? [])];
  const error = (issue: z.core.$ZodRawIssue): string => describeIssue({ ...issue, path: pathOf(issue) }, top, style);
  const { issues } = z.safeParse(schema, value, { error, reportInput: true }).error ?? { issues: [] };
  return issues
    .slice(0, MAX_PROBLEMS)
    .flatMap((issue) => toProblems({ ...issue, path: pathOf(issue) }, top, style))
    .slice(0, MAX_PROBLEMS);
}

function toProblems(issue: z.core.$ZodIssue, top: SchemaNode, style: CheckStyle): ArgumentProblem[] {
  const argument = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys' && issue.message === describeIssue(issue, top, style)) {
    return issue.keys.slice(0, MAX_PROBLEMS).map((key) => ({
      argument: [...issue.path.map(String), truncate(key)].join('.'),
      kind: 'unknown' as const,
      message: unknownKey(key, issue.path, top, style),
    }));
  }
  return [{ argument, kind: isMissing(issue) ? 'missing' : 'invalid', message: issue.message }];
}

function isMissing(issue: z.core.$ZodRawIssue | z.core.$ZodIssue): boolean {
  const absent = issue.code === 'invalid_type' || issue.code === 'invalid_value' || issue.code === 'invalid_union';
  return absent && issue.input === undefined && (issue.path?.length ?? 0) > 0;
}

function describeIssue(issue: z.core.$ZodRawIssue | z.core.$ZodIssue, top: SchemaNode, style: CheckStyle): string {
  const path = issue.path ?? [];
  const name = style.name(path);
  if (issue.code === 'unrecognized_keys') return `unknown ${style.noun}s in ${name || 'the arguments'}`;
  if (isMissing(issue)) return `${name} is required`;
  const subject = path.length === 0 ? `the ${style.noun}s` : name;
  const got = style.hides?.(path) ? '' : `, got ${show(issue.input)}`;
  return `${subject} must be ${describe(nodeAt(top, path))}${got}`;
}

function unknownKey(key: string, path: readonly PropertyKey[], top: SchemaNode, style: CheckStyle): string {
  const known = Object.keys(nodeAt(top, path)?.properties ?? {});
  const hint = didYouMean(key, known, (name) => style.name([...path, name])) || `; known are ${known.join(', ')}`;
  return `unknown ${style.noun}: ${truncate(style.name([...path, key]))}${hint}`;
}

function nodeAt(top: SchemaNode, path: readonly PropertyKey[]): SchemaNode | undefined {
  let node: SchemaNode | undefined = top;
  for (const step of path) {
    const inner: SchemaNode | undefined = typeof step === 'number' ? node?.items : node?.properties?.[String(step)];
    node = notNull(inner?.$ref === undefined ? inner : top.$defs?.[inner.$ref.replace('#/$defs/', '')]);
  }
  return node;
}

/** Returns the other alternative of a nullable schema. */
function notNull(node: SchemaNode | undefined): SchemaNode | undefined {
  const others = node?.anyOf?.filter(({ type }) => type !== 'null') ?? [];
  return others.length === 1 ? others[0] : node;
}

function describe(node: SchemaNode | undefined): string {
  if (node?.const !== undefined) return show(node.const);
  const choices = node?.anyOf ?? (Array.isArray(node?.type) ? node.type.map((type) => ({ type })) : undefined);
  if (choices !== undefined) return choices.map(describe).join(' or ');
  if (node?.enum !== undefined) return `one of ${node.enum.map(show).join(', ')}`;
  switch (node?.type) {
    case 'integer':
      return `an integer${range(node)}`;
    case 'number':
      return `a number${range(node)}`;
    case 'string':
      if (node.maxLength !== undefined) return `a string of ${node.minLength ?? 0} to ${node.maxLength} characters`;
      return (node.minLength ?? 0) > 0 ? 'a non-empty string' : 'a string';
    case 'boolean':
      return 'true or false';
    case 'array':
      if (node.maxItems !== undefined) return `a list of ${node.minItems ?? 0} to ${node.maxItems} items`;
      return (node.minItems ?? 0) > 0 ? 'a non-empty list' : 'a list';
    case 'object':
      return 'an object';
    default:
      return 'a valid value';
  }
}

function range({ minimum, maximum, exclusiveMinimum }: SchemaNode): string {
  const low = minimum === undefined || minimum <= Number.MIN_SAFE_INTEGER ? undefined : minimum;
  const high = maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? undefined : maximum;
  if (exclusiveMinimum !== undefined)
    return ` above ${exclusiveMinimum}${high === undefined ? '' : ` and at most ${high}`}`;
  if (low !== undefined && high !== undefined) return ` from ${low} to ${high}`;
  if (low !== undefined) return ` of at least ${low}`;
  return high === undefined ? '' : ` of at most ${high}`;
}

function show(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  return truncate(JSON.stringify(value) ?? String(value));
}
