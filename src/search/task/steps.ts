/** Work that may pause at each `yield` and go on later. */
export type Coroutine<T> = Generator<undefined, T>;
