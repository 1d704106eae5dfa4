/** How wide a number is, with spaces before it; one that does not fit is as long as it is. */
export const NUMBER_WIDTH = 6;

/** Lines as an editor shows them: the number, six wide, a tab, the line. */
export function numberedLines(lines: readonly string[], first: number): string {
  return lines.map((line, index) => linePrefix(first + index) + line).join('\n');
}

export function linePrefix(number: number): string {
  return `${String(number).padStart(NUMBER_WIDTH)}\t`;
}
