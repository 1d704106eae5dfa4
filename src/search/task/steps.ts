/** Work that may pause at each `yield` and go on later. */
export type Steps<T> = Generator<undefined, T>;
