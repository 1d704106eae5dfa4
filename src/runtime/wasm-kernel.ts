import { readFileSync } from 'node:fs';
import { compiledFile } from './compiled-file.ts';

const PAGE = 65_536;

/** The part of the WebAssembly API that is used here; TypeScript declares it in the DOM library only. */
interface Wasm {
  Memory: new (size: { initial: number }) => { readonly buffer: ArrayBuffer };
  Module: new (code: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { readonly exports: unknown };
}

/** Exports of a kernel: its functions, and constants of its memory layout as globals. */
type Exports<F, C extends string> = F & Readonly<Record<C, { readonly value: number }>>;

/** A loaded kernel and its memory. */
export interface Kernel<F, C extends string> {
  readonly memory: ArrayBuffer;
  readonly exports: Exports<F, C>;
}

/**
 * Loads the WebAssembly kernel that the build compiled from `assembly/` beside a module, with at least `bytes` of
 * memory. Returns undefined where it cannot run: without SIMD support, with WebAssembly disabled, or under a limit on
 * the address space (`ulimit -v`), of which every WebAssembly memory reserves several gigabytes. Throws if the compiled
 * file cannot be read.
 */
export function loadKernel<F, C extends string>(module: string, bytes: number): Kernel<F, C> | undefined {
  const { WebAssembly } = globalThis as unknown as { WebAssembly?: Wasm };
  if (WebAssembly === undefined) return undefined;
  const code = readFileSync(compiledFile(module, 'kernel.wasm'));
  try {
    const memory = new WebAssembly.Memory({ initial: Math.ceil(bytes / PAGE) });
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(code), { env: { memory } });
    return { memory: memory.buffer, exports: exports as Exports<F, C> };
  } catch {
    return undefined;
  }
}
