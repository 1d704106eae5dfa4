/** What a part may have at most. */
const PART_BYTES = 32 * 1024;
const SLAB_BYTES = 256 * 1024;
/** What a character takes at most in UTF-8. */
const CHARACTER_BYTES = 3;

/** Memory for what is short and soon forgotten, in parts of large pieces: to give each its own costs more than a small read. */
export class BufferPool {
  #memory = Buffer.alloc(0);
  #used = 0;

  /** Memory that nobody else uses. What it holds is left to chance. */
  allocate(length: number): Buffer {
    if (length > PART_BYTES) return Buffer.allocUnsafe(length);
    this.#makeRoom(length);
    return this.#part(length);
  }

  /** A text as UTF-8. */
  encode(text: string): Buffer {
    const most = text.length * CHARACTER_BYTES;
    if (most > PART_BYTES) return Buffer.from(text);
    this.#makeRoom(most);
    return this.#part(this.#memory.write(text, this.#used));
  }

  #makeRoom(length: number): void {
    if (this.#used + length <= this.#memory.length) return;
    this.#memory = Buffer.allocUnsafeSlow(SLAB_BYTES);
    this.#used = 0;
  }

  #part(length: number): Buffer {
    const from = this.#used;
    this.#used += length;
    return this.#memory.subarray(from, this.#used);
  }
}
