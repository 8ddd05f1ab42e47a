/**
 * Forced tokens are the tokenizer's own: along valid texts as it writes them, what is forced at a place is what stands
 * there.
 */
import { type CompileOptions, compile } from "../../grammar/index.ts"
import { type Encode, forcedTokens, Matcher, TokenFsm, type Vocabulary } from "../../mask/index.ts"

export interface ForcedSoak {
  texts: number
  /** Texts that the constraint refuses, since it wants the keys in another order. */
  otherwise: number
  tokens: number
  /** How many of them need no run of the model of their own. */
  forced: number
  disagreements: string[]
}

export interface ForcedSoakOptions {
  vocabulary: Vocabulary
  encode: Encode
  compile: CompileOptions
}

/** Throws what `compile` throws. */
export function soakForced(
  schema: string,
  texts: readonly { valid: boolean; text: string }[],
  { vocabulary, encode, ...more }: ForcedSoakOptions,
): ForcedSoak {
  const soak: ForcedSoak = { texts: 0, otherwise: 0, tokens: 0, forced: 0, disagreements: [] }
  const fsm = new TokenFsm(compile({ kind: "json", schema }, more.compile).grammar, vocabulary)
  for (const { valid, text } of texts) {
    if (!valid) continue
    const ids = encode(text)
    const matcher = new Matcher(fsm)
    if (matcher.validate(ids) < ids.length) {
      soak.otherwise++
      continue
    }
    soak.texts++
    soak.tokens += ids.length
    let end = 0
    for (const [at, id] of ids.entries()) {
      const forced = forcedTokens(matcher, ids.slice(0, at), encode)
      const written = ids.slice(at, at + forced.length)
      if (forced.join() !== written.join())
        soak.disagreements.push(`token ${at} of ${text.slice(0, 300)}: forced ${forced}, written ${written}`)
      end = Math.max(end, at + forced.length)
      if (at < end) soak.forced++
      matcher.accept(id)
    }
  }
  return soak
}
