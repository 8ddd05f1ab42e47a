/**
 * Names of a graph's inputs and outputs: those of exports, and those that `slim.ts` adds.
 */

/**
 * Returns the name of the output with the values that a run adds to `present`. Shape [B, H, S, D].
 */
export function freshName(present: string): string {
  return `${present}.fresh`
}

/**
 * Returns the name of the input with the positions of the new tokens, for caches with this number
 * of heads. Shape [B, H, S, 1], int64.
 */
export function placesName(heads: number): string {
  return `fresh_places.${heads}`
}

/**
 * Name of the input with the tokens whose logits are requested, each by its row and its index in
 * the row. Shape [n, 1, 2], int64.
 */
export const keptName = "kept_tokens"

/**
 * Name of the input of the last product in the graphs that `build/graph.ts` writes. Other products
 * may also read it.
 */
export const headInput = "hidden_states"

/**
 * Returns the name of the output with the keys or values of `past` and the new ones; also for a
 * state.
 */
export function presentName(past: string): string {
  return past.replace(/^past_key_values/, "present").replace(/^past/, "present")
}

/**
 * Returns whether an input has keys or values of each token. Any other input with a past is a
 * state.
 */
export function isTokenwise(past: string): boolean {
  return past.startsWith("past_key_values") && /\.(key|value)$/.test(past)
}

/**
 * Name of the input with the number of tokens that are read one after the other. Shape [], int64;
 * 0: all at once.
 */
export const stepsName = "read_steps"

/**
 * Inputs by which a graph itself leaves out logits: the number of tokens of which logits are
 * requested.
 */
export const keepInputs = ["num_logits_to_keep", "logits_to_keep"]
