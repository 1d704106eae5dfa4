const WIDTH = 6;

/** Lines as an editor shows them: the number, six wide, a tab, the line. */
export function numberedLines(lines: readonly string[], first: number): string {
  return lines.map((line, index) => linePrefix(first + index) + line).join('\n');
}

export function linePrefix(number: number): string {
  return `${String(number).padStart(WIDTH)}\t`;
}
