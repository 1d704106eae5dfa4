const WIDTH = 6;

/** Lines as an editor shows them: the number, six wide, a tab, the line. */
export function numberedLines(lines: readonly string[], first: number): string {
  return lines.map((line, index) => `${String(first + index).padStart(WIDTH)}\t${line}`).join('\n');
}
