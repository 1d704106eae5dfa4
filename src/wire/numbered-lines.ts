/** How wide a number is, with spaces before it; one that does not fit is as long as it is. */
export const NUMBER_WIDTH = 6;

/** Lines as an editor shows them: the number, a tab, the line. */
export function numberedLines(lines: readonly string[], first: number): string {
  return lines.map((line, index) => linePrefix(first + index) + line).join('\n');
}

/** The same for a content, without the end of its last line. */
export function numberedContent(content: string, first: number): string {
  const lines = content.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return numberedLines(lines, first);
}

export function linePrefix(number: number): string {
  return `${String(number).padStart(NUMBER_WIDTH)}\t`;
}
