/** Largest allocation that is served from a slab; larger ones get memory of their own. */
const PART_BYTES = 32 * 1024;
const SLAB_BYTES = 256 * 1024;
/** Upper bound on UTF-8 bytes per UTF-16 code unit. */
const CHARACTER_BYTES = 3;

/**
 * Slab allocator for small, short-lived buffers: it hands out consecutive parts of 256 KB slabs, because one
 * `ArrayBuffer` per small read costs more than the read.
 *
 * Parts are never reused. A slab is collected once none of its parts is referenced, so one long-lived part retains up
 * to 256 KB.
 */
export class BufferPool {
  #memory = Buffer.alloc(0);
  #used = 0;

  /** Returns memory that is not shared with any other allocation. Its content is uninitialized. */
  allocate(length: number): Buffer {
    if (length > PART_BYTES) return Buffer.allocUnsafe(length);
    this.#makeRoom(length);
    return this.#part(length);
  }

  /** Returns the text encoded as UTF-8. */
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
