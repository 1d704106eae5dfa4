import fs from 'node:fs';
import { ConfigError } from '../../config/config-error.ts';
import { printable } from '../../runtime/printable.ts';

/** Reads a file that the user names on the command line, as text. Raises `ConfigError`. */
export function readArgumentFile(path: string): string {
  let bytes: Buffer;
  try {
    bytes = fs.readFileSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'there is no such file' : code === 'EISDIR' ? 'it is a folder' : code;
    const literal = `for the text itself write key:='"@${printable(path)}"'`;
    throw new ConfigError(`@${printable(path)}: cannot be read: ${why}; ${literal}`);
  }
  return decodeText(bytes, `@${printable(path)}`);
}

/** Reads stdin to its end, as text. Raises `ConfigError`. */
export async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return decodeText(Buffer.concat(chunks), 'stdin');
}

function decodeText(bytes: Uint8Array, from: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ConfigError(`${from}: is not UTF-8 text; pass it as base64 if the tool takes an encoding`);
  }
}
