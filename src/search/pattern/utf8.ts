/** U+FFFD, which decoders substitute for bytes that are not UTF-8. */
export const REPLACEMENT = 0xfffd;

/** What the first byte of a multi-byte character determines. */
export interface Lead {
  readonly bits: number;
  /** Number of bytes that must follow. */
  readonly missing: number;
  /** Range of the second byte; later ones range from 0x80 to 0xbf. */
  readonly low: number;
  readonly high: number;
}

/**
 * Decodes the first byte of a multi-byte character, or returns undefined if none starts with this byte. The ranges are
 * those of the WHATWG decoder: https://encoding.spec.whatwg.org/#utf-8-decoder.
 */
export function leadOf(byte: number): Lead | undefined {
  if (byte < 0xc2 || byte > 0xf4) return undefined;
  if (byte < 0xe0) return { bits: byte & 0x1f, missing: 1, low: 0x80, high: 0xbf };
  // Excludes overlong forms, surrogates and code points beyond U+10FFFF.
  if (byte < 0xf0) {
    return { bits: byte & 0x0f, missing: 2, low: byte === 0xe0 ? 0xa0 : 0x80, high: byte === 0xed ? 0x9f : 0xbf };
  }
  return { bits: byte & 0x07, missing: 3, low: byte === 0xf0 ? 0x90 : 0x80, high: byte === 0xf4 ? 0x8f : 0xbf };
}

/**
 * Decodes the character at `at`, which must lie before `to`. Returns its code point times eight plus its number of
 * bytes, packed to avoid an allocation per character. Bytes that are not UTF-8 decode to U+FFFD.
 */
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
