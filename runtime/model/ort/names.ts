/**
 * Names of a graph's inputs and outputs: those of exports, and those that `slim.ts` adds.
 */

/** The output that has the values that a run adds to `present`. Shape [B, H, S, D]. */
export function freshName(present: string): string {
  return `${present}.fresh`
}

/**
 * The input that names the places of the new tokens in caches of so many heads. Shape [B, H, S, 1],
 * int64.
 */
export function placesName(heads: number): string {
  return `fresh_places.${heads}`
}

/**
 * The input that names the tokens whose logits are wanted, each by its row and its place there.
 * Shape [n, 1, 2], int64.
 */
export const keptName = "kept_tokens"

/**
 * The input of the last product in the graphs that `build/graph.ts` writes. Other products may read
 * it beside that one.
 */
export const headInput = "hidden_states"

/** The output that has the keys or values of `past` and the new ones; also that of a state. */
export function presentName(past: string): string {
  return past.replace(/^past_key_values/, "present").replace(/^past/, "present")
}

/**
 * Whether an input has keys or values of each token. Any other input that is handed on is a state.
 */
export function isTokenwise(past: string): boolean {
  return past.startsWith("past_key_values") && /\.(key|value)$/.test(past)
}

/**
 * The input that says how many tokens are read one after the other. Shape [], int64; 0: all at
 * once.
 */
export const stepsName = "read_steps"

/** Inputs by which a graph leaves out logits itself: how many tokens' are wanted. */
export const keepInputs = ["num_logits_to_keep", "logits_to_keep"]
