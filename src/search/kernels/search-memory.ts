import type { Root } from '../../fence/index.ts';
import { loadKernel } from '../../runtime/wasm-kernel.ts';

const LF = 0x0a;
const NUL = 0;
/** Bytes per vector. The kernels work on multiples of it. */
const LANES = 16;
/** Page size of files and processor; each buffer starts on a page boundary. */
const PAGE = 4096;
/** Space before the buffers, for the tables of a search. */
const FRONT = 5 * PAGE;
/** Number of SIMD buffers; more are needed only while many searches run at once. */
const BUFFERS = 4;
/** Size of a read buffer. Hardly any line is longer; untouched pages take no physical memory. */
const READ_BYTES = 1024 * 1024 + PAGE;
/** Distance between buffers. Vector loads read past the end of a buffer but never into the next one. */
const BUFFER_SPACE = READ_BYTES + PAGE;

/** Distances of the three probe positions from the start of a sequence. */
export type ProbePositions = readonly [first: number, second: number, third: number];

/** Sequences of byte classes, encoded for the kernels in assembly/index.ts. */
export interface ProbeTables {
  /** The tables that are copied into the kernel's memory. */
  bytes(): { readonly probes: Uint8Array; readonly sequences: Uint8Array };
  readonly kind: 'mask' | 'nibbles' | 'buckets';
  readonly positions: ProbePositions;
  /** Length of the shortest sequence, and of the longest up to the number of verified positions. */
  readonly shortest: number;
  readonly longest: number;
}

/** Functions that assembly/index.ts exports. */
interface Functions {
  countByte(from: number, to: number, byte: number): number;
  findByMask: Find;
  findByNibbles: Find;
  findByBuckets: Find;
}

type Addresses = 'BUDGET_AT' | 'PROBES_AT' | 'SEQUENCES_AT';

type Find = (
  ...args: [from: number, to: number, ...positions: [...ProbeDistances, length: number], budget: number]
) => number;
type ProbeDistances = [first: number, second: number, third: number];

/** Where to start, and the number of rejected candidates after which any position may be returned. */
export interface ProbeSearch {
  readonly from: number;
  readonly budget: number;
}

/**
 * A worker's read buffers, in WebAssembly memory on which SIMD kernels work: they count lines about ten times as fast
 * as JavaScript and find bytes several times as fast. Where the kernels cannot run (see `loadKernel`), the buffers are
 * plain memory and all methods but `find` use JavaScript.
 */
export class SearchMemory {
  /** How many more candidates the last `find` could have rejected; 0 means that its result was not verified. */
  budgetLeft = 0;
  readonly #simd: SimdKernel | undefined;
  readonly #free: Buffer[];
  #loaded: ProbeTables | undefined;

  /** With `simd: false`, the kernels are not loaded. */
  constructor({ simd = true } = {}) {
    this.#simd = simd ? startKernel() : undefined;
    this.#free = this.#simd?.buffers ?? [];
  }

  /**
   * Returns a buffer for exclusive use until it is given back. Allocates a plain one when all SIMD buffers are taken.
   */
  take(root: Root): Buffer {
    return this.#free.pop() ?? root.allocateReadBuffer(READ_BYTES);
  }

  /** Returns a buffer from `take` for reuse. */
  giveBack(buffer: Buffer): void {
    if (this.holds(buffer) || (this.#simd === undefined && this.#free.length < BUFFERS)) this.#free.push(buffer);
  }

  /** Whether a block lies in the kernels' memory, so that `find` can search it. */
  holds(block: Buffer): boolean {
    return block.buffer === this.#simd?.memory;
  }

  /** Counts the LFs between two offsets of a block. */
  countLines(block: Buffer, from: number, to: number): number {
    const steps = Math.floor((to - from) / LANES);
    if (this.#simd === undefined || steps <= 0 || !this.holds(block)) return countLines(block, from, to);
    const rest = from + steps * LANES;
    const { countByte } = this.#simd;
    return countByte(block.byteOffset + from, block.byteOffset + rest, LF) + countLines(block, rest, to);
  }

  /** Whether there is a NUL before offset `to` of a block. */
  hasNul(block: Buffer, to: number): boolean {
    const end = Math.min(to, block.length);
    const steps = Math.floor(end / LANES);
    if (this.#simd === undefined || steps === 0 || !this.holds(block)) return block.subarray(0, end).includes(NUL);
    const { byteOffset } = block;
    if (this.#simd.countByte(byteOffset, byteOffset + steps * LANES, NUL) > 0) return true;
    for (let at = steps * LANES; at < end; at += 1) if (block[at] === NUL) return true;
    return false;
  }

  /**
   * Returns the first offset at or after `from` where one of the sequences matches, or -1. The block must be one that
   * `holds` accepts. The bytes after a block are compared too, so a sequence found near the end may reach past it.
   */
  find(block: Buffer, tables: ProbeTables, { from, budget }: ProbeSearch): number {
    const to = block.length - tables.shortest + 1;
    this.budgetLeft = budget;
    if (from >= to) return -1;
    const simd = this.#simd as SimdKernel;
    if (this.#loaded !== tables) {
      simd.load(tables);
      this.#loaded = tables;
    }
    const [first, second, third] = tables.positions;
    const { byteOffset } = block;
    const find = simd.finders[tables.kind];
    const at = find(byteOffset + from, byteOffset + to, first, second, third, tables.longest, budget);
    this.budgetLeft = simd.budget[0] as number;
    return at - byteOffset < to ? at - byteOffset : -1;
  }
}

interface SimdKernel extends Pick<Functions, 'countByte'> {
  readonly memory: ArrayBuffer;
  readonly budget: Int32Array;
  readonly buffers: Buffer[];
  readonly finders: Record<ProbeTables['kind'], Find>;
  /** Copies the tables of a search into the kernel's memory. */
  load(tables: ProbeTables): void;
}

function startKernel(): SimdKernel | undefined {
  const kernel = loadKernel<Functions, Addresses>(import.meta.url, FRONT + BUFFERS * BUFFER_SPACE);
  if (kernel === undefined) return undefined;
  const { memory, exports } = kernel;
  const { countByte, findByMask, findByNibbles, findByBuckets, BUDGET_AT, PROBES_AT, SEQUENCES_AT } = exports;
  const bytes = new Uint8Array(memory, 0, FRONT);
  return {
    memory,
    countByte,
    finders: { mask: findByMask, nibbles: findByNibbles, buckets: findByBuckets },
    budget: new Int32Array(memory, BUDGET_AT.value, 1),
    buffers: Array.from({ length: BUFFERS }, (_, i) => Buffer.from(memory, FRONT + i * BUFFER_SPACE, READ_BYTES)),
    load: (tables) => {
      const { probes, sequences } = tables.bytes();
      bytes.set(probes, PROBES_AT.value);
      bytes.set(sequences, SEQUENCES_AT.value);
    },
  };
}

/** Counts the LFs between two offsets in plain JavaScript. */
function countLines(bytes: Uint8Array, from: number, to: number): number {
  let count = 0;
  for (let at = from; at < to; at += 1) if (bytes[at] === LF) count += 1;
  return count;
}
