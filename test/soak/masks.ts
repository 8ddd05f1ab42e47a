/**
 * Fast masks against plain walks at random places of a schema's texts.
 *
 * A text of the corpus is followed up to a random byte, then a few tokens are drawn. At each place every machine must
 * write the row of the definition, bit for bit, on its first use, its second and its third (a memo may answer another
 * way each time), and a sample of tokens is tried by accept.
 */
import { type CompileOptions, compile } from "../../grammar/index.ts"
import { isAllowed, Matcher, TokenFsm, type Vocabulary } from "../../mask/index.ts"
import { LocalMasks } from "../../mask/local.ts"
import { randomOf } from "../support/oracle.ts"
import { acceptPrefix, type Draw, drawToken, shown } from "./draw.ts"

export interface MaskSoak {
  masks: number
  tries: number
  disagreements: string[]
}

export interface MaskSoakOptions {
  vocabulary: Vocabulary
  /** Local masks by plain walks. */
  plain: LocalMasks
  compile: CompileOptions
  seed: number
  walks: number
  /** Tokens drawn after the place in the text. */
  steps: number
  draw: Draw
  /** Tokens tried by accept at each place. */
  tries: number
}

/** The plain walks of a vocabulary, for `MaskSoakOptions.plain`. */
export const plainLocals = (vocabulary: Vocabulary) => new LocalMasks(vocabulary, null)

/** Throws what `compile` and a walk throw. */
export function compareMasks(schema: string, texts: readonly string[], more: MaskSoakOptions): MaskSoak {
  const { vocabulary } = more
  const { grammar, report } = compile({ kind: "json", schema }, more.compile)
  const soak: MaskSoak = { masks: 0, tries: 0, disagreements: [] }
  if (!report.satisfiable) return soak
  const definition = new TokenFsm(grammar, vocabulary, { locals: more.plain })
  const fast = new TokenFsm(grammar, vocabulary)
  const expected = new Uint32Array(vocabulary.words)
  const row = new Uint32Array(vocabulary.words)
  const random = randomOf(more.seed)
  const below = (bound: number) => Math.floor(random() * bound)
  for (let walk = 0; walk < more.walks; walk++) {
    const slow = new Matcher(definition)
    const quick = new Matcher(fast)
    const text = new TextEncoder().encode(texts[below(texts.length)] ?? "")
    // Half of the texts from their beginning: few places are before the first key, and they differ most.
    const cut = texts.length === 0 || random() < 0.1 ? 0 : below(text.length + 1)
    const end = acceptPrefix(slow, text.subarray(0, cut))
    const taken = acceptPrefix(quick, text.subarray(0, cut))
    const path: string[] = [shown(text.subarray(0, end))]
    const fail = (what: string) =>
      soak.disagreements.push(`walk ${walk}, after ${path.join(" ")}: ${what.slice(0, 400)}`)
    if (taken !== end) {
      fail(`the fast machine takes ${taken} bytes, the plain one ${end}`)
      continue
    }
    for (let step = 0; step <= more.steps; step++) {
      slow.fillMask(expected)
      soak.masks++
      let isEqual = true
      for (const use of ["first", "second", "third"]) {
        quick.fillMask(row)
        const difference = differenceOf(row, expected, vocabulary)
        if (difference === null) continue
        fail(`${use} use: ${difference}`)
        isEqual = false
        break
      }
      if (!isEqual) break
      for (let i = 0; i < more.tries; i++) {
        soak.tries++
        const token = below(vocabulary.width)
        if ((quick.validate([token]) === 1) !== isAllowed(row, token))
          fail(
            `token ${token} ${shown(vocabulary.bytes(token))}: bit ${isAllowed(row, token)}, accept differs`,
          )
      }
      const token = drawToken(row, vocabulary, more.draw, random)
      if (token < 0) {
        fail("the mask is empty")
        break
      }
      if (vocabulary.isEnd(token)) break
      const accepted = [slow.accept(token), quick.accept(token)]
      path.push(shown(vocabulary.bytes(token)))
      if (!accepted[0] || !accepted[1]) {
        fail(`accept says ${accepted} (plain, fast) of the last token, which the mask allows`)
        break
      }
    }
  }
  return soak
}

/** null when the rows are equal; else how many tokens are missing and too many, with some of them. */
function differenceOf(row: Uint32Array, expected: Uint32Array, vocabulary: Vocabulary): string | null {
  if (row.every((word, i) => word === expected[i])) return null
  const missing: number[] = []
  const extra: number[] = []
  for (let token = 0; token < 32 * row.length; token++) {
    if (isAllowed(row, token) === isAllowed(expected, token)) continue
    if (isAllowed(row, token)) extra.push(token)
    else missing.push(token)
  }
  const some = (tokens: number[]) =>
    tokens
      .slice(0, 5)
      .map((id) => `${id} ${id < vocabulary.width ? shown(vocabulary.bytes(id)) : "(padding)"}`)
  return `${missing.length} tokens missing (${some(missing)}), ${extra.length} too many (${some(extra)})`
}
