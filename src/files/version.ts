import type { Stats } from 'node:fs';

/** Used within one call only. */
const numbers = new Float64Array(4);
const words = new Uint32Array(numbers.buffer);

/**
 * Returns a short opaque text that is the same for two statuses only if the entry was not changed or replaced between
 * them: a 58-bit hash of inode, size and the times of the last change. The change time is among them because a
 * program can set the modification time back. A mere change of mode or owner gives a new version, too. The device is not
 * among them: a file system that several machines share has another number on each, and they have to agree on versions.
 *
 * Files that this program replaces get a modification time that is finer than the system's clock tick
 * (`OpenFile.stampMtime`), so two replacements within one tick differ even if the filesystem reuses an inode. Another
 * program that rewrites a file in place, to the same size and within one tick (4 ms, Linux before 6.13), is not
 * noticed.
 */
export function versionOf({
  ino,
  size,
  mtimeMs,
  ctimeMs,
}: Pick<Stats, 'ino' | 'size' | 'mtimeMs' | 'ctimeMs'>): string {
  numbers[0] = ino;
  numbers[1] = size;
  numbers[2] = mtimeMs;
  numbers[3] = ctimeMs;
  let a = 0x9e3779b9;
  let b = 0x85ebca6b;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] as number;
    a = mix(a ^ word);
    b = mix((b + word) ^ a);
  }
  return base32(a) + base32(b);
}

/**
 * Scrambles 32 bits: the finalizer of MurmurHash3
 * (https://github.com/aappleby/smhasher/blob/master/src/MurmurHash3.cpp).
 */
function mix(bits: number): number {
  let mixed = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

/** Writes the upper 29 of 32 bits as six characters, of which the first is never 0. */
function base32(bits: number): string {
  return ((bits >>> 3) | 0x20000000).toString(32);
}
