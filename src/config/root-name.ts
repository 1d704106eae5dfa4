/** What is wrong with a root's name, if anything. Names travel in messages and logs, so they hold nothing that could mislead there. */
export function nameProblem(name: string): string | undefined {
  if (/^[\p{L}\p{N}_][\p{L}\p{N}\p{M} ._@+-]*$/u.test(name) && !name.endsWith(' ') && name.length <= 64)
    return undefined;
  return `${JSON.stringify(name)} cannot name a root; use up to 64 letters, digits, "-", "_" and "."`;
}
