/** A value with more parts than this is large. */
const LARGE = 1_000;

/**
 * Reports whether a value consists of so many parts that a full list of what is wrong with them would take long to
 * make.
 */
export function isLarge(value: unknown): boolean {
  return roomAfter(value, LARGE) <= 0;
}

function roomAfter(value: unknown, room: number): number {
  let left = room - 1;
  if (typeof value !== 'object' || value === null) return left;
  for (const key in value) {
    if (left <= 0) return left;
    left = roomAfter(value[key as keyof typeof value], left);
  }
  return left;
}
