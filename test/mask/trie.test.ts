/** The trie and its walk against a loop over tokens. */
import fc from "fast-check"
import { expect, test } from "vitest"
import { exprs } from "../../grammar/lexeme/expr/expr.ts"
import { exprLexeme } from "../../grammar/lexeme/raw.ts"
import { anyContent, lengthContent } from "../../grammar/lexeme/string/content.ts"
import { stringLexeme } from "../../grammar/lexeme/string/string.ts"
import { lexemes } from "../../grammar/lexeme/table.ts"
import { parseRegex } from "../../grammar/regex/parse.ts"
import { type Found, TokenTrie } from "../../mask/trie.ts"
import { Vocabulary } from "../../mask/vocabulary.ts"
import { childrenOf } from "../support/trie.ts"

const encoder = new TextEncoder()
const tokenOf = fc.oneof(
  fc.string({ unit: fc.constantFrom("a", "b", '"', "\\", "n", "é", "💩"), minLength: 0, maxLength: 5 }),
)
const vocabularies = fc.array(tokenOf, { minLength: 1, maxLength: 60 }).map((texts) =>
  Vocabulary.fromBytes(
    texts.map((text) => encoder.encode(text)),
    { endIds: [texts.length] },
  ),
)

const states = [
  exprLexeme(exprs.anyText),
  exprLexeme(parseRegex("a*b+|é", { mode: "match", path: "" })),
  exprLexeme(parseRegex("(a|b){2,3}", { mode: "match", path: "" })),
  lexemes.next(stringLexeme(anyContent, "canonical"), 0x22),
  lexemes.next(stringLexeme(anyContent, "json"), 0x22),
  lexemes.next(stringLexeme(lengthContent(anyContent, 1, 2), "canonical"), 0x22),
]

test("the walk finds what reading every token finds", () => {
  fc.assert(
    fc.property(vocabularies, fc.constantFrom(...states), (vocabulary, state) => {
      const trie = new TokenTrie(vocabulary)
      const found: Found = { tokens: new Int32Array(trie.nodeCount), tokenCount: 0, exits: [] }
      trie.walk(0, state, found)
      const tokens = [...found.tokens.subarray(0, found.tokenCount)].flatMap((id) => [
        id,
        ...(trie.duplicates.get(id) ?? []),
      ])
      const expected: number[] = []
      const exits = new Set<string>()
      for (let id = 0; id < vocabulary.width; id++) {
        const bytes = vocabulary.bytes(id)
        if (bytes.length === 0) continue
        if (lexemes.run(state, bytes) !== 0) expected.push(id)
        for (let n = 1; n < bytes.length; n++) {
          const tag = lexemes.tagAfter(state, bytes.subarray(0, n))
          if (tag !== 0) exits.add(`${bytes.subarray(0, n).join()} ${tag}`)
        }
      }
      expect(tokens.sort((a, b) => a - b)).toEqual(expected)
      const paths = new Map<number, string>([[0, ""]])
      const name = (node: number) => {
        for (const child of childrenOf(trie, node)) {
          paths.set(child, [...(node === 0 ? [] : [paths.get(node)]), trie.byte(child)].join())
          name(child)
        }
      }
      name(0)
      const walked = found.exits.flatMap((node, i) =>
        i % 2 === 0 ? [`${paths.get(node)} ${found.exits[i + 1]}`] : [],
      )
      expect(walked.sort()).toEqual([...exits].sort())
    }),
    { seed: 5, numRuns: 400 },
  )
})

test("every token lies at the end of its bytes, duplicates under the lowest id", () => {
  fc.assert(
    fc.property(vocabularies, (vocabulary) => {
      const trie = new TokenTrie(vocabulary)
      let longest = 0
      const spellings = new Set<string>()
      for (let id = 0; id < vocabulary.width; id++) {
        const bytes = vocabulary.bytes(id)
        if (bytes.length === 0) continue
        longest = Math.max(longest, bytes.length)
        let node = 0
        for (const byte of bytes) {
          node = trie.child(node, byte)
          expect(node).toBeGreaterThan(0)
          expect(trie.byte(node)).toBe(byte)
        }
        const isFirst = !spellings.has(bytes.join())
        spellings.add(bytes.join())
        expect(isFirst ? trie.token(node) : trie.duplicates.get(trie.token(node))?.includes(id)).toBe(
          isFirst ? id : true,
        )
      }
      const below: number[] = []
      trie.tokensBelow(0, below)
      expect(below.length).toBe(spellings.size)
      expect([trie.maxDepth, trie.subtreeSize(0)]).toEqual([longest, trie.nodeCount - 1])
      expect(trie.child(0, 0xff)).toBe(0)
    }),
    { seed: 6, numRuns: 200 },
  )
})
