/**
 * Platform names that the server's types use, for programs that compile without the types of the
 * DOM or of Node; see sampler/platform.ts.
 */
declare global {
  interface Request {}
  interface RequestInit {}
  interface Response {}
  interface URL {}
  interface URLSearchParams {}
}

export {}
