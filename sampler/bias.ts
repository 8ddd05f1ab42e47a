/**
 * The values that a request adds to the logits of single tokens, and the tokens that it bans.
 *
 * An object or a map names tokens by their ids. A list of pairs, as llama.cpp takes it, may also
 * name tokens by a text: the bias then applies to each token of the text. In a pair, `false` bans
 * the token. Several biases of one token add up.
 */
import { atMost, integer, range, SamplingError } from "./ranges.ts"

/** Biases from -100 to 100. A text is encoded exactly as given, without a space in front of it. */
export type LogitBias =
  | Readonly<Record<string, number>>
  | ReadonlyMap<number, number>
  | readonly (readonly [token: number | string, bias: number | false])[]

export const biasBounds = { biasCount: 1_024, biasUnits: 8_192 } as const

interface BiasContext {
  /** Width of the logits. */
  readonly width: number
  readonly encodeText?: ((text: string) => readonly number[]) | undefined
}

/**
 * Returns the ids in ascending order with their biases, and the banned ids. Throws SamplingError.
 */
export function readBias(
  bias: LogitBias | null | undefined,
  { width, encodeText }: BiasContext,
): { biasIds: Int32Array; biasValues: Float32Array; bannedIds: readonly number[] } {
  const pairs = pairsOf(bias ?? {})
  const units = pairs.reduce((sum, [token]) => sum + (typeof token === "string" ? token.length : 0), 0)
  atMost("logit_bias", units, biasBounds.biasUnits, " UTF-16 units in all")
  const sums = new Map<number, number>()
  const banned = new Set<number>()
  for (const [token, value] of pairs) {
    const ids = typeof token === "string" ? idsOf(token, encodeText) : [token]
    for (const id of ids) {
      integer("logit_bias", id, 0, width - 1)
      if (value === false) banned.add(id)
      else sums.set(id, range("logit_bias", (sums.get(id) ?? 0) + value, -100, 100))
    }
    atMost("logit_bias", sums.size + banned.size, biasBounds.biasCount, " ids")
  }
  const entries = [...sums].sort((a, b) => a[0] - b[0])
  return {
    biasIds: Int32Array.from(entries, ([id]) => id),
    biasValues: Float32Array.from(entries, ([, value]) => value),
    bannedIds: [...banned],
  }
}

function pairsOf(bias: LogitBias): readonly (readonly [token: number | string, bias: number | false])[] {
  if (Array.isArray(bias)) {
    atMost("logit_bias", bias.length, biasBounds.biasCount, " pairs")
    for (const pair of bias as readonly unknown[]) {
      if (isPair(pair)) continue
      const message =
        "a member of the list is not a pair of a token (its id or a text) and a bias (a number, or false to ban it)"
      throw new SamplingError("logit_bias", pair, message)
    }
    return bias
  }
  if (typeof bias !== "object") {
    const message = "it is neither an object of biases by token id nor a list of pairs"
    throw new SamplingError("logit_bias", bias, message)
  }
  const entries: [number, number][] =
    bias instanceof Map ? [...bias] : Object.entries(bias).map(([id, value]) => [Number(id), value])
  atMost("logit_bias", entries.length, biasBounds.biasCount, " ids")
  return entries
}

function isPair(pair: unknown): boolean {
  if (!Array.isArray(pair) || pair.length !== 2) return false
  const [token, bias] = pair
  const isToken = typeof token === "number" || typeof token === "string"
  return isToken && (typeof bias === "number" || bias === false)
}

function idsOf(text: string, encode: BiasContext["encodeText"]): readonly number[] {
  if (text === "") throw new SamplingError("logit_bias", text, "an empty text has no token: leave it out")
  if (encode) return encode(text)
  throw new SamplingError("logit_bias", text, "there is no tokenizer here: name tokens by their ids")
}
