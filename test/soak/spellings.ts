/**
 * Completeness: valid texts in random key order and any legal spelling are accepted under the preset that takes
 * everything, byte by byte and, where a vocabulary is given, token by token along a random cut.
 */
import { type CompileOptions, compile } from "../../grammar/index.ts"
import { readJson } from "../../grammar/json/read/reader.ts"
import { isAllowed, Matcher, TokenFsm, type Vocabulary } from "../../mask/index.ts"
import { TokenTrie } from "../../mask/trie.ts"
import { type Spelling, spellAtRandom } from "../support/oracle/spell.ts"
import { randomOf } from "../support/oracle.ts"
import { Validator } from "../support/validate.ts"
import { acceptPrefix, shown } from "./draw.ts"
import type { Judge } from "./walks.ts"

export interface SpellingSoak {
  texts: number
  tokens: number
  /** Spellings that the reference does not accept: another form of an integer in draft-04. */
  otherwise: number
  disagreements: string[]
}

export interface SpellingSoakOptions {
  vocabulary: Vocabulary
  compile: CompileOptions
  seed: number
  /** Spellings of each valid text. */
  count: number
  /** Who judges the spellings. Default: the reference validator. */
  judge?: Judge
}

const ways: readonly Spelling[] = [
  { order: 1, space: 0, escape: 0, number: 0 },
  { order: 1, space: 0.2, escape: 0.1, number: 0.5 },
  { order: 0.5, space: 0.05, escape: 1, number: 1 },
  { order: 1, space: 0.5, escape: 0.5, number: 0.2 },
]
const tries = new WeakMap<Vocabulary, TokenTrie>()

/** Throws what `compile` throws. */
export function soakSpellings(
  schema: string,
  texts: readonly { valid: boolean; text: string }[],
  more: SpellingSoakOptions,
): SpellingSoak {
  const { vocabulary } = more
  const soak: SpellingSoak = { texts: 0, tokens: 0, otherwise: 0, disagreements: [] }
  const fsm = new TokenFsm(compile({ kind: "json", schema }, more.compile).grammar, vocabulary)
  const judge = more.judge ?? new Validator(schema)
  const hasLexicalIntegers = schema.includes("draft-04")
  const random = randomOf(more.seed)
  const row = new Uint32Array(vocabulary.words)
  let trie = tries.get(vocabulary)
  if (trie === undefined) {
    trie = new TokenTrie(vocabulary)
    tries.set(vocabulary, trie)
  }
  for (const { valid, text } of texts) {
    if (!valid) continue
    const node = readJson(text, { maxDepth: 10_000 })
    for (let i = 0; i < more.count; i++) {
      const spelled = spellAtRandom(node, random, ways[i % ways.length])
      const bytes = new TextEncoder().encode(spelled)
      const fail = (what: string) => soak.disagreements.push(`${what} of ${spelled.slice(0, 300)}`)
      if (!judge.accepts(spelled)) {
        soak.otherwise++
        if (!hasLexicalIntegers) fail("the reference rejects a spelling")
        continue
      }
      soak.texts++
      const byBytes = new Matcher(fsm)
      const taken = acceptPrefix(byBytes, bytes)
      if (taken < bytes.length) fail(`stops at byte ${taken}, ${shown(bytes.subarray(taken, taken + 20))}`)
      else if (!byBytes.isAccepting()) fail("the end is not accepted")
      else {
        const byTokens = new Matcher(fsm)
        for (const token of cutAtRandom(bytes, trie, random)) {
          soak.tokens++
          byTokens.fillMask(row)
          if (isAllowed(row, token) && byTokens.accept(token)) continue
          fail(`token ${token} ${shown(vocabulary.bytes(token))} is not allowed`)
          break
        }
      }
    }
  }
  return soak
}

/** `bytes` as tokens, each one drawn from those that come next. Every byte must be a token. */
function cutAtRandom(bytes: Uint8Array, trie: TokenTrie, random: () => number): number[] {
  const tokens: number[] = []
  for (let at = 0; at < bytes.length; ) {
    const choices: { token: number; end: number }[] = []
    let node = 0
    for (let end = at; end < bytes.length; end++) {
      node = trie.child(node, bytes[end])
      if (node === 0) break
      if (trie.token(node) >= 0) choices.push({ token: trie.token(node), end: end + 1 })
    }
    // The longest is what tokenizers take: half of the time.
    const choice =
      random() < 0.5 ? choices[choices.length - 1] : choices[Math.floor(random() * choices.length)]
    if (choice === undefined) throw new Error(`no token begins with byte ${bytes[at]}`)
    tokens.push(choice.token)
    at = choice.end
  }
  return tokens
}
