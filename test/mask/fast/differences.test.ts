/**
 * Masks by way of a state that reads nearly alike, and with long tokens read by themselves: each is that of a walk which reads every
 * token. Random vocabularies and texts; seeds in the failures.
 */
import fc from "fast-check"
import { expect, test } from "vitest"
import { type CompileOptions, compile, type GrammarInput } from "../../../grammar/index.ts"
import { clampedState } from "../../../grammar/lexeme/clamp.ts"
import { exprLexeme } from "../../../grammar/lexeme/raw.ts"
import { lexemes } from "../../../grammar/lexeme/table.ts"
import { parseRegex } from "../../../grammar/regex/parse.ts"
import { Children } from "../../../mask/fast/children.ts"
import { Differences } from "../../../mask/fast/differences.ts"
import { FarTokens } from "../../../mask/fast/far.ts"
import { shortcuts } from "../../../mask/fast/shortcuts.ts"
import { TokenFsm, Vocabulary } from "../../../mask/index.ts"
import { LocalMasks } from "../../../mask/local.ts"
import { type Found, TokenTrie } from "../../../mask/trie.ts"
import { reachOf } from "../../support/reach.ts"

const encoder = new TextEncoder()
const string = (schema: object): GrammarInput => ({ kind: "json", schema: { type: "string", ...schema } })
const options: CompileOptions = { surface: "conform" }
const inputs: [name: string, input: GrammarInput][] = [
  ["no run", string({ not: { pattern: "[ab]{5}" } })],
  ["no run of something else", string({ not: { pattern: "(a|cd){4}" } })],
  ["no long run", string({ not: { pattern: "[abé]{12}" } })],
  ["words", string({ pattern: "^([^ ]+ ){0,4}[^ ]+$" })],
  ["words of a bounded text", string({ pattern: "^([^ ]+ ){0,4}[^ ]+$", maxLength: 15 })],
  ["a search in a text of one length", string({ pattern: "b+", minLength: 9, maxLength: 9 })],
  ["a first character and more", string({ pattern: "^[a-z][a-z0-9_]*$" })],
]

test.each(inputs)("%s", (_, input) => {
  const { grammar } = compile(input, options)
  const piece = fc.constantFrom("a", "b", "c", "d", " ", "é", "0", '"', "\\n", "\\u0061", "\\u", "00")
  const token = fc.array(piece, { minLength: 1, maxLength: 9 }).map((pieces) => pieces.join(""))
  const run = (texts: string[], farBytes: number, steps: number[]) => {
    const pieces = ['"', "a", "b", "é", " ", "\\", "u", "0", "6", "1", "n", "c", "d"]
    const tokens: (Uint8Array | null)[] = [...new Set([...pieces, ...texts])].map((each) =>
      encoder.encode(each),
    )
    tokens.push(Uint8Array.of(0xc3), Uint8Array.of(0xa9, 0x61), null)
    const vocabulary = Vocabulary.fromBytes(tokens, { endIds: [tokens.length - 1] })
    const ways = [null, shortcuts({ minSliceNodes: 0 }), shortcuts({ minSliceNodes: 0, farBytes })]
    const fsms = ways.map(
      (each) => new TokenFsm(grammar, vocabulary, { locals: new LocalMasks(vocabulary, each) }),
    )
    const states = fsms.map((fsm) => fsm.start)
    for (const step of steps) {
      const rows = fsms.map((fsm, i) => {
        const row = new Uint32Array(vocabulary.words)
        fsm.fillMask(states[i], row)
        return row
      })
      for (const row of rows) expect(row).toEqual(rows[0])
      const allowed = tokens.flatMap((bytes, id) =>
        bytes !== null && ((rows[0][id >>> 5] >>> (id & 31)) & 1) === 1 ? [id] : [],
      )
      // Longer texts: the closing quote comes last.
      const going = allowed.filter((id) => states[0] === fsms[0].start || !tokens[id]?.includes(0x22))
      if (going.length === 0) return
      const next = going[step % going.length]
      for (const [i, fsm] of fsms.entries()) states[i] = fsm.next(states[i], next)
    }
  }
  const many = fc.array(token, { minLength: 4, maxLength: 24 })
  const steps = fc.array(fc.nat(1_000), { minLength: 4, maxLength: 12 })
  fc.assert(fc.property(many, fc.integer({ min: 1, max: 6 }), steps, run), { numRuns: 60 })
})

test("the end of an escape stands for more bytes than it has", () => {
  const { grammar } = compile(string({ not: { pattern: "[\u0800-\u0fff]{3}" } }), options)
  const tokens: (Uint8Array | null)[] = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte))
  for (const text of ["0\u0800\u0800", "0\u0800a", "a longer token"]) tokens.push(encoder.encode(text))
  const vocabulary = Vocabulary.fromBytes([...tokens, null], { endIds: [tokens.length] })
  for (const way of [null, shortcuts({ minSliceNodes: 0, farBytes: 7 })]) {
    const fsm = new TokenFsm(grammar, vocabulary, { locals: new LocalMasks(vocabulary, way) })
    const row = new Uint32Array(vocabulary.words)
    fsm.fillMask(fsm.advance(fsm.start, encoder.encode('"\\u080')), row)
    expect([256, 257, 258].map((id) => (row[id >>> 5] >>> (id & 31)) & 1)).toEqual([0, 1, 1])
  }
})

const expressions = [
  "[^]*[ab]{3}",
  "[^]*",
  "(a|bc)*b?",
  "a{0,3}c?",
  "a{0,9}c?",
  "([ab]+c){0,6}",
  "([ab]+c){0,5}",
]
const states = expressions.map((pattern) =>
  exprLexeme(parseRegex(`^(?:${pattern})$`, { mode: "match", path: "" })),
)
const texts = fc.array(fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1, maxLength: 12 }), {
  minLength: 1,
  maxLength: 40,
})
const vocabularyOf = (all: string[]) =>
  Vocabulary.fromBytes(
    [...new Set(all)].map((each) => encoder.encode(each)),
    { endIds: [all.length] },
  )
const emptyFound = (trie: TokenTrie): Found => ({
  tokens: new Int32Array(trie.nodeCount),
  tokenCount: 0,
  exits: [],
})
/** Its tokens, and its exits as "node tag". */
const setOf = ({ tokens, tokenCount, exits }: Found) =>
  new Set<number | string>([
    ...tokens.subarray(0, tokenCount),
    ...exits.flatMap((node, i) => (i % 2 === 0 ? [`${node} ${exits[i + 1]}`] : [])),
  ])
/** That what `base` reads is what `state` does once it is corrected by what was found. */
const expectCorrected = (trie: TokenTrie, state: number, base: number, found: Found, other: Found) => {
  const [mine, theirs] = [state, base].map((each) => {
    const walked = emptyFound(trie)
    trie.walk(0, each, walked)
    return setOf(walked)
  })
  for (const each of setOf(other)) theirs.delete(each)
  for (const each of setOf(found)) theirs.add(each)
  expect(theirs).toEqual(mine)
}

test("what one state reads, corrected by the differences, is what another one reads", () => {
  const read = (all: string[], state: number, base: number, before: string) => {
    const trie = new TokenTrie(vocabularyOf(all))
    const after = [...encoder.encode(before)].reduce((at, byte) => lexemes.next(at, byte), state)
    const { found, other } = new Differences(new Children(trie)).find(Int32Array.of(0), after, base)!
    expectCorrected(trie, after, base, found, other)
  }
  const one = fc.constantFrom(...states)
  fc.assert(fc.property(texts, one, one, fc.constantFrom("", "a", "ab", "abc", "aa"), read), { numRuns: 500 })
})

test("what no short token tells apart is told apart by what is read beyond some bytes", () => {
  const read = (all: string[], state: number, farBytes: number) => {
    const trie = new TokenTrie(vocabularyOf(all))
    const far = new FarTokens(trie, farBytes)
    const near = clampedState(state, reachOf(farBytes))
    const [found, other] = [emptyFound(trie), emptyFound(trie)]
    far.differ(state, near, found, other)
    expectCorrected(trie, state, near, found, other)
    expect(far.isEmpty).toBe(!all.some((each) => each.length > farBytes))
  }
  fc.assert(fc.property(texts, fc.constantFrom(...states), fc.integer({ min: 1, max: 8 }), read), {
    numRuns: 500,
  })
})
