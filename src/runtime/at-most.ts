/**
 * Waits for work, but not for longer than this. Resolves with what the work does in time, else with what `late`
 * returns. The process does not end meanwhile, even if nothing else keeps it alive. Rejects if the work does in time,
 * or if `late` throws. Work whose result has arrived by then is in time, however late this process comes to read it.
 */
export async function atMost<T, L = undefined>(
  milliseconds: number,
  work: Promise<T>,
  late: () => L = () => undefined as L,
): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<void>((resolve) => {
    // On a busy machine, a timer may be over before what has arrived is read. It is read before `setImmediate` calls back.
    timer = setTimeout(() => setImmediate(resolve), milliseconds);
  });
  try {
    return await Promise.race([work, timeUp.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}
