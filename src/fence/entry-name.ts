/** A file name: a string, or its bytes where they are not UTF-8. */
export type Name = string | Buffer;

/** The string that stands for exactly these bytes, or the bytes where there is none. */
export function decodeName(bytes: Buffer): Name {
  const text = bytes.toString();
  return Buffer.from(text).equals(bytes) ? text : bytes;
}
