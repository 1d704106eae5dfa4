const MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 } as const;
const KIB = 1024;
const BYTES = { b: 1, kb: KIB, mb: KIB ** 2, gb: KIB ** 3, tb: KIB ** 4 } as const;

/**
 * Reads a duration, `90s`, `15m`, `12h`, `7d` or `2w`, and returns it in milliseconds. A number without a unit is one of
 * seconds. Undefined for anything else, and for what is not above 0.
 */
export function parseDuration(written: string | number): number | undefined {
  const [amount, unit = 's'] = parts(written);
  return above0(amount * (MS[unit as keyof typeof MS] ?? Number.NaN));
}

/**
 * Reads a size, `500MB` or `1GB`, by powers of 1024, and returns it in whole bytes. A number without a unit is one of
 * bytes. Undefined for anything else, and for what is not above 0.
 */
export function parseSize(written: string | number): number | undefined {
  const [amount, unit = 'b'] = parts(written);
  const bytes = amount * (BYTES[unit.replace('ib', 'b') as keyof typeof BYTES] ?? Number.NaN);
  return above0(Math.floor(bytes));
}

/** Returns the number and the unit of a quantity, if it has one; `NaN` for what is no quantity. */
function parts(written: string | number): [amount: number, unit?: string | undefined] {
  if (typeof written === 'number') return [written];
  const [, amount, unit] = /^(\d+(?:\.\d+)?) ?([a-z]*)$/.exec(written.trim().toLowerCase()) ?? [];
  return [Number(amount), unit === '' ? undefined : unit];
}

function above0(value: number): number | undefined {
  return value > 0 && value <= Number.MAX_SAFE_INTEGER ? value : undefined;
}
