/**
 * The brute-force oracle of masks, and random walks.
 *
 * By definition a mask is { t : some accepted text starts with prefix + t }. Over a small vocabulary it is computed just
 * so: enumerate accepted texts up to a bound, collect their prefixes, look prefix + t up. What the matcher allows beyond
 * them must have a longer accepted text as its witness: the matcher's own shortest completion, judged by the reference.
 */

import { concatenate } from "../../grammar/bytes.ts"
import { type CompileOptions, compile, type GrammarInput } from "../../grammar/index.ts"
import { bindGrammar, isAllowed, Matcher, type TokenMachine, Vocabulary } from "../../mask/index.ts"
import { type Alphabet, jsonTexts, smallAlphabet, stringsOver } from "./oracle/texts.ts"
import { Validator } from "./validate.ts"

export interface OracleCase {
  name: string
  input: GrammarInput
  options?: CompileOptions
  /** Accepted texts, all up to some length. */
  texts: readonly string[]
  /** The reference verdict on any text. */
  accepts(text: string): boolean
  vocabulary: Vocabulary
  /** Tokens of the longest prefix that is compared. */
  depth: number
}

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { fatal: true })

/** A vocabulary of these texts; a number is a single byte. The end id comes last. */
export function vocabularyOf(tokens: readonly (string | number)[]): Vocabulary {
  const bytes = tokens.map((token) =>
    typeof token === "number" ? Uint8Array.of(token) : encoder.encode(token),
  )
  return Vocabulary.fromBytes(bytes, { endIds: [tokens.length] })
}

/** Tokens that cut JSON texts in inconvenient places; a token twice, halves of a character, more than one value. */
export const jsonVocabulary = vocabularyOf([
  ...'{}[]":,.-0125abetrufalsn\\',
  ...[
    '{"',
    '":',
    '",',
    '"}',
    '"a":',
    ',"',
    "[[",
    "]]",
    "],[",
    "}}",
    "true",
    "nul",
    "fals",
    "1,",
    "0.",
    "-1",
    "1e",
  ],
  ...[
    '"a',
    "ab",
    "ba",
    'b"',
    "\\u00",
    "61",
    "\\u0061",
    "ä",
    0xc3,
    0xa4,
    '{"a":1',
    '"b":2}',
    "[]",
    "a",
    " ",
    "\n",
  ],
])

export interface JsonCaseOptions {
  options?: CompileOptions
  alphabet?: Partial<Alphabet>
  /** Length of the texts that are enumerated. */
  bound?: number
  depth?: number
  vocabulary?: Vocabulary
  /** What the surface policies take away. */
  keep?: (text: string) => boolean
}

const space = new Map<string, string[]>()

/** A schema under the widest surface, white space aside. */
export function jsonCase(name: string, schema: unknown, more: JsonCaseOptions = {}): OracleCase {
  const text = typeof schema === "string" ? schema : JSON.stringify(schema)
  const alphabet = { ...smallAlphabet, ...more.alphabet }
  const bound = more.bound ?? 7
  const key = JSON.stringify([bound, alphabet])
  let texts = space.get(key)
  if (texts === undefined) {
    texts = jsonTexts(bound, alphabet)
    space.set(key, texts)
  }
  const validator = new Validator(text, {
    documents: more.options?.documents,
    dialect: more.options?.dialect,
  })
  const keep = more.keep ?? (() => true)
  const accepts = (candidate: string) => validator.accepts(candidate) && keep(candidate)
  return {
    name,
    input: { kind: "json", schema: text },
    options: { surface: "conform", whitespace: "compact", ...more.options },
    texts: texts.filter(accepts),
    accepts,
    vocabulary: more.vocabulary ?? jsonVocabulary,
    depth: more.depth ?? 5,
  }
}

/** A full match of a regular expression, judged by the host. */
export function regexCase(
  pattern: string,
  {
    alphabet,
    bound = 5,
    depth = 4,
    flags = "u",
  }: { alphabet: string; bound?: number; depth?: number; flags?: string },
): OracleCase {
  const regexp = new RegExp(`^(?:${pattern})$`, flags)
  const accepts = (text: string) => regexp.test(text)
  const letters = [...alphabet]
  const pairs = letters.flatMap((a) => letters.map((b) => a + b)).slice(0, 25)
  const bytes = [...encoder.encode(alphabet)].filter((byte) => byte >= 0x80)
  return {
    name: `/${pattern}/${flags}`,
    input: { kind: "regex", pattern, flags },
    texts: stringsOver(letters, bound).filter(accepts),
    accepts,
    vocabulary: vocabularyOf([...letters, ...pairs, ...bytes]),
    depth,
  }
}

export function choiceCase(options: readonly string[]): OracleCase {
  const letters = [...new Set(options.join(""))]
  const middle = options.map((option) => option.slice(1, 3)).filter((piece) => piece !== "")
  const bytes = [...encoder.encode(options.join(""))].filter((byte) => byte >= 0x80)
  return {
    name: `choice of ${JSON.stringify(options)}`,
    input: { kind: "choice", options: [...options] },
    texts: options,
    accepts: (text) => options.includes(text),
    vocabulary: vocabularyOf([...letters, ...middle, ...options.filter((text) => text !== ""), ...bytes]),
    depth: 8,
  }
}

/** UTF-8 bytes as a string of one unit a byte: prefixes may end within a character. */
const toUnits = (bytes: Uint8Array) => String.fromCharCode(...bytes)
const fromUnits = (units: string) => Uint8Array.from(units, (unit) => unit.charCodeAt(0))

/** Compares the masks of all reachable prefixes with the definition. Returns disagreements, at most `cap`. */
export function compareMasks(row: OracleCase, cap = 5): { disagreements: string[]; prefixCount: number } {
  const { vocabulary } = row
  const { grammar } = compile(row.input, row.options)
  const fsm = bindGrammar(grammar, vocabulary)
  const complete = new Set(row.texts.map((text) => toUnits(encoder.encode(text))))
  const prefixes = new Set<string>()
  for (const text of complete) for (let n = 0; n <= text.length; n++) prefixes.add(text.slice(0, n))
  const tokens = Array.from({ length: vocabulary.width }, (_, id) => toUnits(vocabulary.bytes(id)))
  const disagreements: string[] = []
  const seen = new Set([""])
  const witnessed = new Set<number>()
  let level: [prefix: string, matcher: Matcher][] = [["", new Matcher(fsm)]]
  const mask = new Uint32Array(vocabulary.words)
  for (let depth = 0; depth <= row.depth; depth++) {
    const next: typeof level = []
    for (const [prefix, matcher] of level) {
      matcher.fillMask(mask)
      if (!witnessed.has(matcher.state) && prefixes.size > 0) {
        witnessed.add(matcher.state)
        const problem = witnessProblem(row, prefix, matcher)
        if (problem !== null) disagreements.push(`after ${JSON.stringify(prefix)}: ${problem}`)
      }
      const report = (what: string, token: number) => {
        disagreements.push(`${what}: ${JSON.stringify(tokens[token])} after ${JSON.stringify(prefix)}`)
      }
      for (let token = 0; token < vocabulary.width; token++) {
        if (disagreements.length >= cap) return { disagreements, prefixCount: seen.size }
        const allowed = isAllowed(mask, token)
        const after = matcher.fork()
        if (after.accept(token) !== allowed) report(`bit ${allowed}, accept ${!allowed}`, token)
        if (vocabulary.isSpecial(token)) {
          const whole = decoded(prefix)
          const expected = whole !== null && row.accepts(whole)
          if (expected !== allowed) report(expected ? "end not allowed" : "end allowed", token)
          continue
        }
        const text = prefix + tokens[token]
        if (prefixes.has(text)) {
          if (!allowed) report("not allowed", token)
        } else if (allowed && !witnessed.has(after.state)) {
          const problem = witnessProblem(row, text, after)
          if (problem !== null) report(`allowed, ${problem}`, token)
          else if (decoded(text) !== null) witnessed.add(after.state)
        }
        // Prefixes of enumerated texts only: beyond them, the definition is not known.
        if (allowed && prefixes.has(text) && !seen.has(text)) {
          seen.add(text)
          next.push([text, after])
        }
      }
    }
    level = next
  }
  return { disagreements, prefixCount: seen.size }
}

function decoded(units: string): string | null {
  try {
    return decoder.decode(fromUnits(units))
  } catch {
    return null
  }
}

/** null when the matcher can finish from here with a text that the reference accepts. */
function witnessProblem(row: OracleCase, units: string, matcher: Matcher): string | null {
  const rest = completionOf(matcher)
  if (rest === null) return "cannot be completed"
  const text = decoded(units + toUnits(rest))
  if (text === null) return `completed to malformed UTF-8 by ${JSON.stringify(toUnits(rest))}`
  if (!row.accepts(text)) return `completed to ${JSON.stringify(text)}, which is not accepted`
  return null
}

// What closes things comes first, what opens them last.
const preferred = encoder.encode('"}]:0123456789elusratfn-.TZPDabcdeghijkmopqvwxyz/@{[,')
const allBytes = [...new Set([...preferred, ...Array.from({ length: 256 }, (_, byte) => byte)])]

/**
 * Bytes that complete the text, found by deepening search over the matcher alone; null when `budget` states hold none. Few, not
 * fewest: a second opinion on whether the text can be finished at all.
 */
export function searchCompletion(matcher: Matcher, budget = 20_000): Uint8Array | null {
  for (const depth of [6, 12, 24, 48, 96, 400]) {
    const seen = new Map<number, number>()
    let isCut = false
    const search = (at: Matcher, left: number): number[] | null => {
      if (at.isAccepting()) return []
      if (left === 0) {
        isCut = true
        return null
      }
      for (const byte of allBytes) {
        if (seen.size > budget) return null
        const after = at.fork()
        if (!after.acceptBytes(Uint8Array.of(byte)) || (seen.get(after.state) ?? 0) >= left) continue
        seen.set(after.state, left)
        const rest = search(after, left - 1)
        if (rest !== null) return [byte, ...rest]
      }
      return null
    }
    const found = search(matcher, depth)
    if (found !== null) return Uint8Array.from(found)
    if (!isCut && seen.size <= budget) return null
  }
  return null
}

function completionOf(matcher: Matcher): Uint8Array | null {
  const { shortest } = matcher as { shortest?: () => Uint8Array }
  return shortest === undefined ? searchCompletion(matcher) : shortest.call(matcher)
}

/** Small, seedable, good enough to choose tests (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

export interface Walk {
  text: string
  tokenCount: number
  /** Whether the end id was drawn; otherwise the text was finished by its shortest completion. */
  ended: boolean
}

/**
 * Draws tokens uniformly from the masks until the end id is drawn or `maxTokens` have passed, then finishes. Throws when a
 * mask is empty, a bit disagrees with accept, rollback or fork lead elsewhere, or the text cannot be finished.
 */
export function randomWalk(fsm: TokenMachine, seed: number, maxTokens = 40): Walk {
  const { vocabulary } = fsm
  const random = randomOf(seed)
  const matcher = new Matcher(fsm)
  const mask = new Uint32Array(vocabulary.words)
  const again = new Uint32Array(vocabulary.words)
  const pieces: Uint8Array[] = []
  const textOf = () => new TextDecoder("utf-8", { fatal: true }).decode(concatenate(pieces))
  const fail = (what: string): never => {
    throw new Error(`seed ${seed}, after ${JSON.stringify(toUnits(concatenate(pieces)))}: ${what}`)
  }
  for (let count = 0; ; count++) {
    const kind = matcher.fillMask(mask)
    const allowed = allowedIds(mask, vocabulary.width)
    if (allowed.length === 0) fail("the mask is empty")
    if (kind === "single" && allowed.length !== 1) fail(`kind single for ${allowed.length} tokens`)
    if (kind === "free" && mask.some((word, i) => word !== vocabulary.freeRow[i]))
      fail("kind free for a masked row")
    const token = allowed[Math.floor(random() * allowed.length)]
    const tried = [token, Math.floor(random() * vocabulary.width)]
    for (const id of tried) {
      const fork = matcher.fork()
      if (fork.accept(id) !== isAllowed(mask, id))
        fail(`token ${id}: bit ${isAllowed(mask, id)}, accept differs`)
    }
    if (!matcher.accept(token)) fail(`token ${token} was not accepted after all`)
    matcher.rollback(1)
    matcher.fillMask(again)
    if (again.some((word, i) => word !== mask[i]))
      fail(`token ${token}: accept and rollback changed the mask`)
    if (vocabulary.endIds.includes(token)) {
      checkRollback(matcher, mask, fail)
      return { text: textOf(), tokenCount: count, ended: true }
    }
    if (count >= maxTokens) {
      const rest = completionOf(matcher) ?? fail("cannot be completed")
      pieces.push(rest)
      if (rest.length > 0 && !matcher.acceptBytes(rest)) fail("the completion is not accepted")
      if (!matcher.isAccepting()) fail("the shortest completion does not complete")
      return { text: textOf(), tokenCount: count, ended: false }
    }
    matcher.accept(token)
    pieces.push(vocabulary.bytes(token))
  }
}

/** Going back to any earlier place and forward again changes nothing. `mask` is that of the matcher's place. */
function checkRollback(matcher: Matcher, mask: Uint32Array, fail: (what: string) => never): void {
  const state = matcher.state
  const start = new Matcher(matcher.fsm)
  const back = matcher.fork()
  back.rollback(back.length)
  if (back.state !== start.state || back.length !== 0) fail("rolled back to another start")
  if (matcher.state !== state) fail("a fork moved its origin")
  const again = new Uint32Array(mask.length)
  matcher.fillMask(again)
  if (again.some((word, i) => word !== mask[i])) fail("a fork changed the mask")
}

export function allowedIds(mask: Uint32Array, width: number): number[] {
  const ids: number[] = []
  for (let id = 0; id < width; id++) if (isAllowed(mask, id)) ids.push(id)
  return ids
}

/** Whether the grammar takes a text, byte for byte. */
export function acceptsText(fsm: TokenMachine, text: string): boolean {
  const matcher = new Matcher(fsm)
  return matcher.acceptBytes(encoder.encode(text)) && matcher.isAccepting()
}
