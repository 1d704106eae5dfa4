/** A longer line is cut, so that a process that writes no line breaks cannot fill the memory of its reader. */
const MAX_LINE_BYTES = 1024 * 1024;
const NEWLINE = 0x0a;

/** Cuts a stream of bytes into lines, so that lines of several streams can be written to one. */
export class LineSplitter {
  readonly #onLine: (line: string) => void;
  #rest: Buffer[] = [];
  #restBytes = 0;

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  write(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      this.#keep(chunk.subarray(from, end));
      this.#emit();
      from = end + 1;
    }
    if (from < chunk.length) this.#keep(chunk.subarray(from));
  }

  /** Passes on what has no line break at its end. */
  end(): void {
    if (this.#restBytes > 0) this.#emit();
  }

  #keep(part: Buffer): void {
    const room = MAX_LINE_BYTES - this.#restBytes;
    if (room <= 0) return;
    this.#rest.push(part.subarray(0, room));
    this.#restBytes += Math.min(part.length, room);
  }

  #emit(): void {
    const line = Buffer.concat(this.#rest).toString();
    this.#rest = [];
    this.#restBytes = 0;
    this.#onLine(line);
  }
}
