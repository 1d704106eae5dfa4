/**
 * Waits for work, but not for longer than this. Resolves with what the work does in time, else with what `late`
 * returns. The process does not end meanwhile, even if nothing else keeps it alive. Rejects if the work does in time,
 * or if `late` throws.
 */
export async function atMost<T, L = undefined>(
  milliseconds: number,
  work: Promise<T>,
  late: () => L = () => undefined as L,
): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  try {
    return await Promise.race([work, timeUp.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}
