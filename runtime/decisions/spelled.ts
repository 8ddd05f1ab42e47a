/**
 * The probability that the model writes exactly one of several texts and then ends.
 *
 * P(text) = the sum over all token sequences that spell the text, of the probability of the
 * sequence times that of an end token after it. The sequences form a tree: a node is a sequence
 * that spells the beginning of some of the texts, and it needs one forward, which gives the
 * probabilities of its children and of an end. The likeliest nodes are visited first. What the
 * unvisited nodes could still add to all texts together is at most the sum of their own
 * probabilities. So the search may end before it has visited all nodes once that sum cannot
 * change a result: most of the many spellings of a long text are never visited.
 *
 * All arithmetic is in float64, on logarithms, so that texts of tiny probability are compared as
 * exactly as others.
 */

import { ModelError } from "../errors.ts"
import { latin1OfText } from "../latin1.ts"
import type { Spellings } from "./spellings.ts"

/** Returns the logits that follow `written` tokens. Shape [V]. */
type Look = (written: readonly number[]) => Promise<Float32Array>

export interface SpelledOptions {
  readonly spellings: Spellings
  /** The tokens that end an output. */
  readonly endIds: readonly number[]
  readonly look: Look
  /** Maximum number of nodes to visit. */
  readonly maxNodes: number
}

/** The natural logarithms of the texts' probabilities, in their order. */
export interface Spelled {
  readonly logprobs: readonly number[]
  /** Number of nodes that were visited, which is the number of forwards. */
  readonly nodes: number
  /** Whether the sums are complete; if not, there are more than `maxNodes` nodes to visit. */
  readonly isComplete: boolean
}

interface Node {
  readonly tokens: readonly number[]
  /** Number of bytes that the tokens write. */
  readonly at: number
  /** The texts that begin with these bytes. */
  readonly texts: readonly number[]
  readonly logprob: number
}

/** What unvisited nodes may add together, relative to what has been found. */
const logTolerance = Math.log(1e-14)

/**
 * Nodes that are visited at once, and the least logarithm of their probability relative to the
 * likeliest one: a visit of a much less likely node may turn out to be in vain. They are constants,
 * since the visited nodes must not depend on the load of the engine.
 */
const roundSize = 16
const logRoundSpread = Math.log(1e-3)

/**
 * Returns the probabilities of the texts. `isComplete` is false if that takes more than `maxNodes`
 * nodes. Rejects as `look` does, and with ModelError if logits are not numbers.
 */
export async function spell(texts: readonly string[], options: SpelledOptions): Promise<Spelled> {
  const { look, maxNodes } = options
  const bytes = texts.map(latin1OfText)
  /** Logarithms of the terms of each text's sum. */
  const terms: number[][] = texts.map(() => [])
  const found = (): number => logSum(terms.flat())
  let frontier: Node[] = [{ tokens: [], at: 0, texts: [...texts.keys()], logprob: 0 }]
  let nodes = 0
  while (frontier.length > 0) {
    if (logSum(frontier.map(({ logprob }) => logprob)) <= found() + logTolerance) break
    if (nodes >= maxNodes) return { logprobs: terms.map(logSum), nodes, isComplete: false }
    const least = frontier[0].logprob + logRoundSpread
    const round = frontier
      .slice(0, Math.min(roundSize, maxNodes - nodes))
      .filter(({ logprob }) => logprob >= least)
    frontier = frontier.slice(round.length)
    nodes += round.length
    const rows = await Promise.all(round.map(({ tokens }) => look(tokens)))
    for (const [index, node] of round.entries()) {
      const row = rows[index]
      const norm = logSum(row)
      if (!Number.isFinite(norm)) throw new ModelError("model_output: the model's logits are not numbers")
      const logprobOf = (token: number): number => node.logprob + (row[token] - norm)
      const end = logSum(options.endIds.map(logprobOf))
      for (const text of node.texts) if (bytes[text].length === node.at) terms[text].push(end)
      frontier.push(...children(node, bytes, options.spellings, logprobOf))
    }
    // The sort is stable, so equal nodes keep the order in which they were found.
    frontier.sort((a, b) => b.logprob - a.logprob)
  }
  return { logprobs: terms.map(logSum), nodes, isComplete: true }
}

function children(
  { tokens, at, texts }: Node,
  bytes: readonly string[],
  spellings: Spellings,
  logprobOf: (token: number) => number,
): Node[] {
  const found = new Map<number, { at: number; texts: number[] }>()
  for (const text of texts) {
    for (const { token, length } of spellings.steps(bytes[text].slice(at), tokens.length === 0)) {
      const child = found.get(token)
      if (child) child.texts.push(text)
      else found.set(token, { at: at + length, texts: [text] })
    }
  }
  return [...found]
    .map(([token, child]) => ({ ...child, tokens: [...tokens, token], logprob: logprobOf(token) }))
    .filter(({ logprob }) => logprob > Number.NEGATIVE_INFINITY)
}

/**
 * Returns the logarithm of the sum of the exponentials; −∞ for no values, NaN if one is not a
 * number or +∞.
 */
export function logSum(values: ArrayLike<number>): number {
  let max = Number.NEGATIVE_INFINITY
  // hot
  for (let index = 0; index < values.length; index++) {
    const value = values[index]
    if (value > max) max = value
    else if (Number.isNaN(value)) return value
  }
  if (max === Number.NEGATIVE_INFINITY) return max
  let sum = 0
  for (let index = 0; index < values.length; index++) sum += Math.exp(values[index] - max)
  return max + Math.log(sum)
}
