/** Bytes of one tier are about as common in source code, prose and logs: occurrences in a thousand bytes, each. */
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

/** How much of a text each byte makes up, typically. */
export const FREQUENCIES: readonly number[] = Array.from({ length: 256 }, (_, byte) => {
  const tier = TIERS.find(([, bytes]) => bytes.includes(String.fromCharCode(byte)));
  return (tier?.[0] ?? (byte < 0x80 ? CONTROL : BEYOND_ASCII)) / 1000;
});

/** How much of it some bytes make up together. */
export function frequencyOf(bytes: readonly number[]): number {
  return sumOf(bytes, FREQUENCIES);
}

function sumOf(bytes: readonly number[], frequencies: readonly number[]): number {
  let sum = 0;
  for (const byte of bytes) sum += frequencies[byte] as number;
  return Math.min(1, sum);
}

/** Occurrences in text that is not ASCII: first bytes of Cyrillic letters, of Chinese and other characters, and any others. */
const BEYOND: readonly (readonly [perMille: number, first: number, last: number])[] = [
  [200, 0xd0, 0xd1],
  [60, 0xe3, 0xe9],
  [15, 0x80, 0xff],
];
const FREQUENCIES_ELSEWHERE = FREQUENCIES.map((frequency, byte) => {
  const tier = BEYOND.find(([, first, last]) => byte >= first && byte <= last);
  return tier === undefined ? frequency : tier[0] / 1000;
});
/** More bytes than this are a class of characters, whatever the script. */
const FEW = 8;

/** How frequent bytes are, of which a pattern names some for a place: it is looked for in texts of their script. */
export function frequencyInScript(named: readonly number[], bytes = named): number {
  return sumOf(bytes, named.length > FEW ? FREQUENCIES : FREQUENCIES_ELSEWHERE);
}

/** How likely things that make up so much of a text follow each other. Such come together, so it is more than the product. */
export function jointProbability(frequencies: Iterable<number>): number {
  let chance = 1;
  for (const frequency of frequencies) chance *= frequency;
  return chance ** 0.8;
}
