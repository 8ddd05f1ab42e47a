import type { Reach } from "../../grammar/lexeme/expr/clamp.ts"

/** Tokens of at most `bytes` bytes, whatever they are. */
export function reachOf(bytes: number): Reach {
  return { bytes, fewIterations: 0, iterations: () => bytes }
}
