import type { Root } from '../../fence/index.ts';
import { loadKernel } from '../../runtime/wasm-kernel.ts';

const LF = 0x0a;
const NUL = 0;
/** Bytes per vector: the kernels work on multiples of it. */
const LANES = 16;
/** Of files, and of the processor's: a buffer begins with one. */
const PAGE = 4096;
/** What is before the buffers: the tables of a search. */
const FRONT = 5 * PAGE;
/** More are needed only while many searches are under way at once. */
const BUFFERS = 4;
/** The size of the buffers that files are read into. Hardly any line is longer; what is not used takes no memory. */
const READ_BYTES = 1024 * 1024 + PAGE;
/** What is read in vain behind a buffer's end, since 16 bytes are taken at once, is no other buffer's. */
const BUFFER_SPACE = READ_BYTES + PAGE;

/** Distances of the three probe positions from where a sequence begins. */
export type ProbePositions = readonly [first: number, second: number, third: number];

/** Sequences of byte classes in the form in which the kernels look for them; see assembly/index.ts. */
export interface ProbeTables {
  /** What the kernel's memory gets. */
  bytes(): { readonly probes: Uint8Array; readonly sequences: Uint8Array };
  readonly kind: 'mask' | 'nibbles' | 'buckets';
  readonly positions: ProbePositions;
  /** The length of the shortest sequence, and of the longest as far as it is compared. */
  readonly shortest: number;
  readonly longest: number;
}

/** See assembly/index.ts. */
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

/** From where to look for a window; after so many misses any place will do. */
export interface ProbeSearch {
  readonly from: number;
  readonly budget: number;
}

/**
 * A worker's memory to read files into, in which 16 bytes are compared at once: lines are counted ten times as fast as
 * JavaScript does it, and bytes are found several times as fast. Where that is not to be had, it is plain memory.
 */
export class SearchMemory {
  /** How many misses the last search for a window had left. */
  budgetLeft = 0;
  readonly #simd: SimdKernel | undefined;
  readonly #free: Buffer[];
  #loaded: ProbeTables | undefined;

  /** Without `simd` it is plain memory in any case. */
  constructor({ simd = true } = {}) {
    this.#simd = simd ? startKernel() : undefined;
    this.#free = this.#simd?.buffers ?? [];
  }

  /** A buffer of `READ_BYTES` that nobody else uses until it is given back. */
  take(root: Root): Buffer {
    return this.#free.pop() ?? root.allocateReadBuffer(READ_BYTES);
  }

  giveBack(buffer: Buffer): void {
    if (this.holds(buffer) || (this.#simd === undefined && this.#free.length < BUFFERS)) this.#free.push(buffer);
  }

  /** Whether 16 bytes can be compared at once there. */
  holds(block: Buffer): boolean {
    return block.buffer === this.#simd?.memory;
  }

  /** How many LFs there are in `region` from one offset to another. */
  countLines(block: Buffer, from: number, to: number): number {
    const steps = Math.floor((to - from) / LANES);
    if (this.#simd === undefined || steps <= 0 || !this.holds(block)) return countLines(block, from, to);
    const rest = from + steps * LANES;
    const { countByte } = this.#simd;
    return countByte(block.byteOffset + from, block.byteOffset + rest, LF) + countLines(block, rest, to);
  }

  /** Whether there is a NUL before an offset of `region`. */
  hasNul(block: Buffer, to: number): boolean {
    const end = Math.min(to, block.length);
    const steps = Math.floor(end / LANES);
    if (this.#simd === undefined || steps === 0 || !this.holds(block)) return block.subarray(0, end).includes(NUL);
    const { byteOffset } = block;
    if (this.#simd.countByte(byteOffset, byteOffset + steps * LANES, NUL) > 0) return true;
    for (let at = steps * LANES; at < end; at += 1) if (block[at] === NUL) return true;
    return false;
  }

  /** The first offset where a window fits in a region that it holds, or -1. */
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
  /** Makes the finders look for these windows. */
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

/** How many LFs there are in `bytes` from one offset to another. */
function countLines(bytes: Uint8Array, from: number, to: number): number {
  let count = 0;
  for (let at = from; at < to; at += 1) if (bytes[at] === LF) count += 1;
  return count;
}
