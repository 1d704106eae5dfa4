import * as z from 'zod';

/** How many unknown fields are enough to say what is wrong. */
const MAX_UNKNOWN = 10;

/** How many items of a list are checked in one step: at first, before the code is compiled, each takes some 3 µs. */
const STEP = 256;

/** A part of a value that does not match the part of the schema that it stands for. */
export interface Mismatch {
  readonly path: readonly PropertyKey[];
  readonly schema: z.core.$ZodType;
  readonly value: unknown;
}

/**
 * Returns the first item of a list, at any depth, that does not match a schema; the object around the lists if all
 * items do, and undefined if nothing is wrong with either. A list that is too long is wrong as a whole. zod itself goes
 * on to the last item, at several microseconds for each problem. Yields between steps of some hundred items.
 */
export function* firstMismatch(
  given: z.core.$ZodType,
  value: unknown,
): Generator<undefined, Mismatch | undefined, undefined> {
  const schema = withoutWrappers(given);
  if (schema instanceof z.ZodArray && Array.isArray(value)) return yield* firstBadItem(schema, value);
  let own = value;
  if (schema instanceof z.ZodObject && typeof value === 'object' && value !== null) {
    own = withFewUnknown(value, schema.shape);
    for (const key of Object.keys(schema.shape)) {
      const list = value[key as keyof typeof value] as unknown;
      if (!Array.isArray(list) || list.length === 0) continue;
      const found = yield* firstMismatch(schema.shape[key], list);
      if (found !== undefined) return { ...found, path: [key, ...found.path] };
      own = { ...(own as object), [key]: list.slice(0, 1) };
    }
  }
  return z.safeParse(schema, own).success ? undefined : { path: [], schema, value: own };
}

/** Returns an object with all of its known fields, but not more than a few of those that are unknown. */
function withFewUnknown(value: object, known: object): object {
  const fields: [string, unknown][] = [];
  let unknown = 0;
  for (const [key, field] of Object.entries(value)) {
    if (!Object.hasOwn(known, key)) unknown += 1;
    if (Object.hasOwn(known, key) || unknown <= MAX_UNKNOWN) fields.push([key, field]);
  }
  return unknown > MAX_UNKNOWN ? Object.fromEntries(fields) : value;
}

function* firstBadItem(
  { element, _zod }: z.ZodArray,
  items: readonly unknown[],
): Generator<undefined, Mismatch | undefined, undefined> {
  const { maximum } = _zod.bag;
  if (typeof maximum === 'number' && items.length > maximum) {
    return { path: [], schema: z.array(z.unknown()).max(maximum), value: items };
  }
  for (const [index, item] of items.entries()) {
    if (index % STEP === 0) yield;
    const found = yield* firstMismatch(element, item);
    if (found !== undefined) return { ...found, path: [index, ...found.path] };
  }
  return undefined;
}

/** Returns what an optional schema, or one with a default, stands for. */
function withoutWrappers(schema: z.core.$ZodType): z.core.$ZodType {
  let inner = schema;
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodDefault) inner = inner.def.innerType;
  return inner;
}
