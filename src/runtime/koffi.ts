import { createRequire } from 'node:module';

/** A C function. Integers that do not fit into a number are returned as a bigint. */
export interface NativeFunction {
  // biome-ignore lint/suspicious/noExplicitAny: the arguments are those of the C declaration that it was made from
  (...args: any[]): any;
  /** Calls the function on a thread of libuv's pool. The last argument is the callback. */
  // biome-ignore lint/suspicious/noExplicitAny: the arguments are those of the C declaration that it was made from
  async(...args: any[]): void;
}

/** A loaded shared library. */
export interface NativeLibrary {
  /** Binds a function by its declaration in C. Throws if the library does not have it. */
  func(declaration: string): NativeFunction;
}

/** The part of koffi, a foreign function interface, that is used here (https://koffi.dev). */
export interface Koffi {
  /** Loads a library by its path, or what this process has loaded already for `null`: the C library. */
  load(path: string | null): NativeLibrary;
  /** The `errno` of the last call on this thread. */
  errno(): number;
  /** The address of the memory of a buffer. */
  address(buffer: Buffer): bigint | number;
}

/**
 * Loads the koffi binary for this platform. Throws where there is none. The binaries are packages of their own without
 * install scripts. The package `koffi` has one, and only chooses among them.
 */
export function loadKoffi(): Koffi {
  return createRequire(import.meta.url)(`@koromix/koffi-${process.platform}-${process.arch}`) as Koffi;
}
