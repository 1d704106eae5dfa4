/** A file name: a string, or its bytes where they are not UTF-8. */
export type Name = string | Buffer;

/** Decodes a file name to a string, or returns its bytes where they are not UTF-8 and a string would name another file. */
export function decodeName(bytes: Buffer): Name {
  const text = bytes.toString();
  return Buffer.from(text).equals(bytes) ? text : bytes;
}
