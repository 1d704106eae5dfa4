const ROUNDS = 3;
/** Less time than this, in microseconds, is not told apart from none. */
const RESOLUTION = 2_000;

/**
 * Returns how many times as much processor time some work takes for eight times the size: about 8 if it is linear, 64
 * if it is quadratic, far more if it is exponential. A ratio of processor times holds on a busy machine, where a limit
 * in seconds does not.
 */
export function growth(size: number, work: (size: number) => unknown): number {
  const cost = (of: number): number => {
    const rounds = Array.from({ length: ROUNDS }, () => {
      const before = process.cpuUsage();
      work(of);
      const { user, system } = process.cpuUsage(before);
      return user + system;
    });
    return Math.max(Math.min(...rounds), RESOLUTION);
  };
  work(size);
  return cost(8 * size) / cost(size);
}
