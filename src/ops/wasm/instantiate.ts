import { assemble, type Func } from './assembler.ts';

const PAGE = 65_536;

/** The part of WebAssembly that is used here; the types come with a browser's only. */
interface Wasm {
  Memory: new (size: { initial: number }) => { readonly buffer: ArrayBuffer };
  Module: new (code: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { readonly exports: unknown };
}

/** Functions and the memory that they work in. */
export interface Instance<F> {
  readonly memory: ArrayBuffer;
  readonly functions: F;
}

/**
 * Makes functions ready to be called, with at least so many bytes of memory. Undefined where they are not to be had: on a
 * processor without such instructions, or under a limit on the address space, of which such memory reserves a lot.
 */
export function instantiate<F>(functions: readonly Func[], bytes: number): Instance<F> | undefined {
  const { WebAssembly } = globalThis as unknown as { WebAssembly?: Wasm };
  if (WebAssembly === undefined) return undefined;
  try {
    const module = new WebAssembly.Module(assemble(functions));
    const pages = new WebAssembly.Memory({ initial: Math.ceil(bytes / PAGE) });
    const { exports } = new WebAssembly.Instance(module, { own: { pages } });
    return { memory: pages.buffer, functions: exports as F };
  } catch {
    return undefined;
  }
}
