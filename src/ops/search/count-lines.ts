const LF = 0x0a;
const FOUR_LFS = 0x0a0a0a0a;
const LOW_BITS = 0x7f7f7f7f;
/** As often a byte can be added up before it overflows. */
const WORDS_AT_ONCE = 255;

/** How many LFs there are in `bytes` from one offset to another. Four bytes at a time, since large files are counted whole. */
export function countLines(bytes: Uint8Array, from: number, to: number): number {
  const aligned = from + ((4 - ((bytes.byteOffset + from) % 4)) % 4);
  const length = Math.floor((to - aligned) / 4);
  if (length <= 0) return countInBytes(bytes, from, to);
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + aligned, length);
  return countInBytes(bytes, from, aligned) + countInWords(words) + countInBytes(bytes, aligned + words.byteLength, to);
}

function countInBytes(bytes: Uint8Array, from: number, to: number): number {
  let count = 0;
  for (let at = from; at < to; at += 1) if (bytes[at] === LF) count += 1;
  return count;
}

function countInWords(words: Int32Array): number {
  let count = 0;
  for (let at = 0; at < words.length; ) {
    const stop = Math.min(words.length, at + WORDS_AT_ONCE);
    let sums = 0;
    for (; at < stop; at += 1) {
      // A byte that is an LF becomes 0, and only a 0 leaves its highest bit clear here; turned round, that is the 1 to add.
      const x = (words[at] as number) ^ FOUR_LFS;
      sums = (sums + (~(((x & LOW_BITS) + LOW_BITS) | x | LOW_BITS) >>> 7)) | 0;
    }
    count += (sums & 255) + ((sums >>> 8) & 255) + ((sums >>> 16) & 255) + (sums >>> 24);
  }
  return count;
}
