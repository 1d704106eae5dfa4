/** Returns how messages name a key of a config file: `roots[0].path`. */
export function keyName(keys: readonly PropertyKey[]): string {
  return keys.reduce<string>(
    (name, key) => (typeof key === 'number' ? `${name}[${key}]` : name === '' ? String(key) : `${name}.${String(key)}`),
    '',
  );
}
