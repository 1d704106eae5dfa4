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

const PER_MILLE = Float64Array.from({ length: 256 }, (_, byte) => {
  if (byte >= 0x80) return BEYOND_ASCII;
  return TIERS.find(([, bytes]) => bytes.includes(String.fromCharCode(byte)))?.[0] ?? CONTROL;
});

/** How much of a text a byte makes up, typically. */
export function frequencyOf(byte: number): number {
  return (PER_MILLE[byte] as number) / 1000;
}
