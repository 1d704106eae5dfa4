import { isUtf8 } from 'node:buffer';
import { looksBinary } from '../encoding.ts';

/** A format by the bytes that its files begin with; `.` in a signature stands for any byte. */
interface Signature {
  readonly mimeType: string;
  readonly starts: RegExp;
}

/** Matched against the first bytes as latin1. https://mimesniff.spec.whatwg.org/#matching-an-image-type-pattern */
const SIGNATURES: readonly Signature[] = [
  { mimeType: 'image/png', starts: /^\x89PNG\r\n\x1a\n/ },
  { mimeType: 'image/jpeg', starts: /^\xff\xd8\xff/ },
  { mimeType: 'image/gif', starts: /^GIF8[79]a/ },
  { mimeType: 'image/webp', starts: /^RIFF....WEBP/s },
  { mimeType: 'audio/wav', starts: /^RIFF....WAVE/s },
  { mimeType: 'audio/flac', starts: /^fLaC/ },
  // Theora in an Ogg container is video.
  { mimeType: 'audio/ogg', starts: /^OggS(?!.{24}\x80theora)/s },
  // An ID3v2 tag, or a frame header of MPEG layer III with a valid version and bit rate.
  { mimeType: 'audio/mpeg', starts: /^(?:ID3[\x02-\x04]|\xff[\xe2\xe3\xf2\xf3\xfa\xfb][\x10-\xef])/ },
];

const HEAD_BYTES = 64;
/**
 * The bytes that a signature can begin with. Nearly all text begins with another, and is told apart without a regular
 * expression.
 */
const FIRST_BYTES: ReadonlySet<number | undefined> = new Set([0x89, 0xff, ...Buffer.from('GRfOI')]);

/**
 * Returns the MIME type of a file that is an image (PNG, JPEG, GIF, WebP) or audio (WAV, FLAC, Ogg, MP3), judged by its
 * content. Returns undefined for any other file, and for text that merely begins like one.
 */
export function mediaTypeOf(bytes: Buffer): string | undefined {
  if (!FIRST_BYTES.has(bytes[0])) return undefined;
  const head = bytes.toString('latin1', 0, HEAD_BYTES);
  const found = SIGNATURES.find(({ starts }) => starts.test(head));
  return found !== undefined && (looksBinary(bytes) || !isUtf8(bytes)) ? found.mimeType : undefined;
}
