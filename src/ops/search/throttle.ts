const INTERVAL_MS = 300;

/** Passes on the first number at once, then the latest a few times a second at most. */
export function throttled(report: (done: number) => void): (done: number) => void {
  let next = 0;
  return (done) => {
    const now = performance.now();
    if (now < next) return;
    next = now + INTERVAL_MS;
    report(done);
  };
}
