/** What a decoder puts in place of bytes that are not UTF-8. */
export const REPLACEMENT = 0xfffd;

/** What the first byte of a character of several bytes says. */
export interface Lead {
  readonly bits: number;
  /** How many bytes must follow. */
  readonly missing: number;
  /** What the next one may be; those after it may be from 0x80 to 0xbf. */
  readonly low: number;
  readonly high: number;
}

/** Undefined if no such character begins with this byte. */
export function leadOf(byte: number): Lead | undefined {
  if (byte < 0xc2 || byte > 0xf4) return undefined;
  if (byte < 0xe0) return { bits: byte & 0x1f, missing: 1, low: 0x80, high: 0xbf };
  // Neither longer forms than needed, nor surrogates, nor what is beyond U+10FFFF.
  if (byte < 0xf0) {
    return { bits: byte & 0x0f, missing: 2, low: byte === 0xe0 ? 0xa0 : 0x80, high: byte === 0xed ? 0x9f : 0xbf };
  }
  return { bits: byte & 0x07, missing: 3, low: byte === 0xf0 ? 0x90 : 0x80, high: byte === 0xf4 ? 0x8f : 0xbf };
}

/** The code point at an offset before `to`, times eight, plus the number of its bytes. */
export function runeAt(bytes: Uint8Array, at: number, to: number): number {
  const byte = bytes[at] as number;
  if (byte < 0x80) return (byte << 3) | 1;
  const lead = leadOf(byte);
  if (lead === undefined) return (REPLACEMENT << 3) | 1;
  let { bits, low, high } = lead;
  for (let taken = 1; taken <= lead.missing; taken += 1) {
    const next = at + taken < to ? (bytes[at + taken] as number) : 0;
    if (next < low || next > high) return (REPLACEMENT << 3) | taken;
    bits = (bits << 6) | (next & 0x3f);
    low = 0x80;
    high = 0xbf;
  }
  return (bits << 3) | (lead.missing + 1);
}
