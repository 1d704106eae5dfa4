const WIDTH = 6;

/** Lines with their numbers as the documentation shows them: six wide, a tab, the line. */
export function numberedLines(lines: readonly string[], first: number): string {
  return lines.map((line, index) => `${String(first + index).padStart(WIDTH)}\t${line}`).join('\n');
}
