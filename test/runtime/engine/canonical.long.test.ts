/**
 * Forced tokens are the tokenizer's own: along texts as real tokenizers write them, what is forced at a place is what
 * stands there, without exception.
 */
import { expect, test } from "vitest"
import { type CompileOptions, compile, type GrammarInput } from "../../../grammar/index.ts"
import { forcedTokens, isAllowed, Matcher, TokenFsm } from "../../../mask/index.ts"
import type { Tokenizer } from "../../../runtime/model/tokenizer.ts"
import { randomOf } from "../../support/oracle.ts"
import { byteFallback, llama, shipped } from "../../support/tokenizers.ts"

const text = { type: "string", maxLength: 12 }
const record = (properties: Record<string, unknown>) => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
})
const inputs: [GrammarInput, CompileOptions?][] = [
  [
    {
      kind: "json",
      schema: record({
        "customer name": text,
        orderId: { type: "integer", minimum: -500, maximum: 4000 },
        orderName: { type: ["string", "null"], maxLength: 6 },
        "délai (Tage)": { enum: ["zwölf Monate", "zwei", "zwölf Tage"] },
        items: {
          type: "array",
          maxItems: 2,
          items: record({ sku_12345678: text, "it's": { type: "boolean" } }),
        },
      }),
    },
  ],
  [
    {
      kind: "json",
      schema: { anyOf: [record({ total: { const: 1234567.25 } }), record({ totalAmount: text })] },
    },
    { whitespace: "compact" },
  ],
  [
    {
      kind: "json",
      schema: record({ note: { pattern: "^Dear  Mr\\.   [A-Z]{2}\\d{3}   - 2024-2025$" }, 日本: text }),
    },
  ],
  // A space before a digit is a token of its own for some tokenizers, and what a word ends with may move its first cut.
  [{ kind: "regex", pattern: "(TOTAL {4}[12]|SUM {3}(Publishers|Publishes|Publish in))" }],
  [{ kind: "regex", pattern: "BEGIN {4}(alpha|alphabet) \\n\\n?END(s|ing)? 1234567(8|90)" }],
]

/** Texts of the grammar: walks over the masks, with a liking for letters so that strings are not noise. */
function* texts({ vocabulary }: Tokenizer, machine: TokenFsm, count: number): Generator<string> {
  const row = new Uint32Array(vocabulary.words)
  for (let seed = 1, found = 0; found < count; seed++) {
    const random = randomOf(seed)
    const matcher = new Matcher(machine)
    const bytes: Uint8Array[] = []
    for (let step = 0; step < 200 && !matcher.isExhausted(); step++) {
      matcher.fillMask(row)
      let token = Math.floor(random() * vocabulary.width)
      while (!isAllowed(row, token)) token = (token + 1) % vocabulary.width
      if (vocabulary.isEnd(token)) break
      matcher.accept(token)
      bytes.push(vocabulary.bytes(token))
    }
    if (!matcher.isAccepting()) bytes.push(matcher.shortest())
    found++
    yield Buffer.concat(bytes).toString()
  }
}

test.each<[name: string, make: () => Tokenizer, count: number]>([
  ["the shipped model's", shipped, 60],
  ["Llama 3, byte-level with 128 k tokens", llama, 25],
  ["byte fallback", byteFallback, 25],
])("%s: what is forced is what it writes", (_, make, count) => {
  const tokenizer = make()
  const encode = (part: string) => tokenizer.encode(part, { addSpecialTokens: false, parseSpecial: false })
  let tokenCount = 0
  let forcedCount = 0
  for (const [input, options] of inputs) {
    const machine = new TokenFsm(compile(input, options).grammar, tokenizer.vocabulary)
    for (const text of texts(tokenizer, machine, count)) {
      const ids = encode(text)
      const matcher = new Matcher(machine)
      for (const [at, id] of ids.entries()) {
        const forced = forcedTokens(matcher, ids.slice(0, at), encode)
        expect({ text, at, forced }).toEqual({ text, at, forced: ids.slice(at, at + forced.length) })
        if (forced.length > 0) forcedCount++
        tokenCount++
        expect(matcher.accept(id)).toBe(true)
      }
    }
  }
  expect(forcedCount / tokenCount).toBeGreaterThan(0.1)
})
