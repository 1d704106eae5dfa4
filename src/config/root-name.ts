/**
 * Returns why a string cannot name a root, or undefined if it can. Names appear in messages and logs, so their
 * characters are limited.
 */
export function rootNameProblem(name: string): string | undefined {
  if (/^[\p{L}\p{N}_][\p{L}\p{N}\p{M} ._@+-]*$/u.test(name) && !name.endsWith(' ') && name.length <= 64)
    return undefined;
  return `${JSON.stringify(name)} cannot name a root; use up to 64 letters, digits, "-", "_" and "."`;
}
