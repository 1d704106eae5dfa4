import { StringDecoder } from 'node:string_decoder';

/** A longer line is passed on in parts, so that a stream without line breaks cannot fill the memory of its reader. */
const MAX_LINE = 1024 * 1024;

/** Cuts a stream of UTF-8 into lines, without their line breaks: LF, or CR LF. */
export class LineSplitter {
  readonly #decoder = new StringDecoder('utf8');
  #rest = '';

  /** Returns the lines that end in the chunk. */
  add(chunk: Buffer): string[] {
    const lines = (this.#rest + this.#decoder.write(chunk)).split('\n');
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > MAX_LINE) {
      lines.push(this.#rest);
      this.#rest = '';
    }
    return lines.map(withoutCarriageReturn);
  }

  /** Returns what has no line break at its end: one line, or none. */
  end(): string[] {
    const last = this.#rest + this.#decoder.end();
    this.#rest = '';
    return last === '' ? [] : [withoutCarriageReturn(last)];
  }
}

function withoutCarriageReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}
