/**
 * Describes an unexpected error for the log: its name and stack frames, and those of its causes. Includes messages only
 * of system errors, because parsers and the JavaScript engine quote values in theirs, which may be file content.
 */
export function describeThrown(thrown: unknown, depth = 0): object {
  if (!(thrown instanceof Error)) return { name: typeof thrown };
  const { code, syscall } = thrown as NodeJS.ErrnoException;
  return {
    name: thrown.name,
    code,
    syscall,
    message: syscall === undefined ? undefined : thrown.message,
    stack: framesOf(thrown),
    cause: thrown.cause === undefined || depth > 4 ? undefined : describeThrown(thrown.cause, depth + 1),
  };
}

/** Returns the stack frames of an error without its message; none for a value that is not an error. */
export function framesOf(thrown: unknown): string[] {
  if (!(thrown instanceof Error)) return [];
  // The message is removed as a whole, because it may contain lines that look like stack frames.
  const { stack = '', message } = thrown;
  const at = stack.indexOf(message);
  const frames = stack.slice(at === -1 ? 0 : at + message.length).split('\n');
  return frames.filter((line) => /^\s+at /.test(line)).map((line) => line.trim());
}
