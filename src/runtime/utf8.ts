/** The offset itself, or up to three before it where it would split a character of UTF-8. */
export function characterStart(bytes: Buffer, at: number): number {
  const least = Math.max(0, at - 3);
  let start = at;
  while (start > least && ((bytes[start] as number) & 0xc0) === 0x80) start -= 1;
  return start;
}
