/**
 * Bytes of about equal frequency in source code, prose and logs, with the occurrences of each per thousand bytes. Rare
 * bytes make good probes; see "rare byte" heuristics in https://docs.rs/memchr/latest/memchr/memmem/.
 */
const TIERS: readonly (readonly [perMille: number, bytes: string])[] = [
  [180, ' '],
  [60, 'e'],
  [45, 't'],
  [35, 'sinrao'],
  [28, '\n'],
  [21, 'lcd'],
  [17, '"pu'],
  [13, 'mhf'],
  [12, '.,_'],
  [10, '0123456789'],
  [9, 'g:/b-'],
  [7, 'y()*'],
  [5, "'EvT=x"],
  [4, 'SA\twCI#R;k'],
  [3, 'N{}LOP$`D>'],
  [2, 'FM[]BjU'],
  [1, 'G<H\\zq@V|WKX+&Y?'],
  [0.4, 'Z^!J%~Q'],
];
const CONTROL = 0.05;
const BEYOND_ASCII = 0.25;

/** Typical relative frequency of each byte. */
export const FREQUENCIES: readonly number[] = Array.from({ length: 256 }, (_, byte) => {
  const tier = TIERS.find(([, bytes]) => bytes.includes(String.fromCharCode(byte)));
  return (tier?.[0] ?? (byte < 0x80 ? CONTROL : BEYOND_ASCII)) / 1000;
});

/** Returns the typical relative frequency of any of some bytes. */
export function frequencyOf(bytes: readonly number[]): number {
  return sumOf(bytes, FREQUENCIES);
}

function sumOf(bytes: readonly number[], frequencies: readonly number[]): number {
  let sum = 0;
  for (const byte of bytes) sum += frequencies[byte] as number;
  return Math.min(1, sum);
}

/**
 * Occurrences per thousand bytes of text that is not ASCII: lead bytes of Cyrillic, lead bytes of Chinese and similar
 * scripts, all others.
 */
const BEYOND: readonly (readonly [perMille: number, first: number, last: number])[] = [
  [200, 0xd0, 0xd1],
  [60, 0xe3, 0xe9],
  [15, 0x80, 0xff],
];
const FREQUENCIES_ELSEWHERE = FREQUENCIES.map((frequency, byte) => {
  const tier = BEYOND.find(([, first, last]) => byte >= first && byte <= last);
  return tier === undefined ? frequency : tier[0] / 1000;
});
/** A larger set of bytes is a character class that says nothing about the script. */
const FEW = 8;

/**
 * Returns the frequency of `bytes` in text of the script that the `named` bytes suggest: a pattern with Cyrillic
 * letters is searched in Cyrillic text, where their bytes are frequent.
 */
export function frequencyInScript(named: readonly number[], bytes = named): number {
  return sumOf(bytes, named.length > FEW ? FREQUENCIES : FREQUENCIES_ELSEWHERE);
}

/**
 * Estimates the probability that bytes of these frequencies stand next to each other. It exceeds the product because
 * bytes in text are correlated.
 */
export function jointProbability(frequencies: Iterable<number>): number {
  let chance = 1;
  for (const frequency of frequencies) chance *= frequency;
  return chance ** 0.8;
}
