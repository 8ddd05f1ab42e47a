/**
 * Platform names that the types of the adapters use, for programs that compile without the types of
 * the DOM or of Node; see sampler/platform.ts.
 */
declare global {
  interface ReadableStream<R> {}
}

export {}
