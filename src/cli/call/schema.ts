/** The part of JSON Schema that arguments are read by. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
  readonly default?: unknown;
  readonly description?: string;
}

/** Returns the types that a value may have; none if the schema allows any. */
export function typesOf({ type, anyOf = [], oneOf = [], enum: choices }: Schema): readonly string[] {
  if (type !== undefined) return typeof type === 'string' ? [type] : type;
  if (choices !== undefined) return [...new Set(choices.map((choice) => typeof choice))];
  return [...new Set([...anyOf, ...oneOf].flatMap(typesOf))];
}

/** Describes what a value may be, in few words: `integer`, `list of string`, `overwrite|append`. */
export function describeType(schema: Schema): string {
  if (schema.enum !== undefined) return schema.enum.map(String).join('|');
  const types = typesOf(schema);
  if (types.length === 0) return 'any';
  return types.map((type) => (type === 'array' ? `list of ${describeType(schema.items ?? {})}` : type)).join(' or ');
}
