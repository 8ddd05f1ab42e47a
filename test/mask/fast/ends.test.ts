/**
 * Ends of free text are looked for only where something can follow: every mask is that of a walk which lists them all. Random
 * vocabularies, texts and followers; seeds in the failures.
 */
import fc from "fast-check"
import { expect, test } from "vitest"
import { compile } from "../../../grammar/index.ts"
import { shortcuts } from "../../../mask/fast/shortcuts.ts"
import { bindGrammar, Vocabulary } from "../../../mask/index.ts"
import { LocalMasks } from "../../../mask/local.ts"
import { writeRecipe } from "../../../mask/recipe.ts"

const encoder = new TextEncoder()
const text = (...excludes: string[]) => ({ type: "any_text", excludes })
const sequence = (...elements: unknown[]) => ({ type: "sequence", elements })
const literal = (value: string) => ({ type: "const_string", value })
const budget = { type: "any_text", excludes: ["<b"], max_tokens: 3 }

const formats: [name: string, format: unknown][] = [
  ["text alone", text("<a>")],
  ["text and a fixed text that it may hold", sequence(budget, literal("<b>"))],
  ["bounded text and its end", { type: "tag", begin: "", content: budget, end: "<b>" }],
  ["text and a value", sequence(text("<a>"), { type: "json_schema", json_schema: { enum: [[1], "a"] } })],
  ["text and any of many bytes", sequence(text("é"), { type: "json_schema", json_schema: true })],
  [
    "text, what may be empty, and more",
    sequence(budget, { type: "optional", content: literal("é") }, literal("<")),
  ],
  ["text behind text", sequence(budget, { ...budget, excludes: ["a"] })],
  ["text of few characters", sequence({ ...budget, max_chars: 3 }, literal("<b>"))],
  ["loops of text", { type: "star", content: sequence(budget, literal("é")) }],
  [
    "text that switches",
    {
      type: "tag",
      begin: "",
      content: { type: "dispatch", rules: [["<a", { type: "regex", pattern: ".*" }]], excludes: ["<b"] },
      end: "<b>",
    },
  ],
]

test.each(formats)("%s", (_, format) => {
  const piece = fc.constantFrom("a", "b", "<", ">", "<a", "<b", "<b>", "é", "1", "[", '"', "e\u0301", "𝄞")
  const token = fc.array(piece, { minLength: 1, maxLength: 5 }).map((pieces) => pieces.join(""))
  const run = (texts: string[], steps: number[]) => {
    const tokens: (Uint8Array | null)[] = [...new Set([...texts, "a", "<", "b", ">"])].map((each) =>
      encoder.encode(each),
    )
    tokens.push(Uint8Array.of(0xc3), Uint8Array.of(0xa9, 0x3c), null)
    const vocabulary = Vocabulary.fromBytes(tokens, { endIds: [tokens.length - 1] })
    const ways = [null, shortcuts({ minSliceNodes: 1 }), shortcuts({ minSliceNodes: 1, minNestedNodes: 1 })]
    const fsms = ways.map((make) => {
      return bindGrammar(compile({ kind: "tag", format }).grammar, vocabulary, {
        locals: new LocalMasks(vocabulary, make),
      })
    })
    const states = fsms.map((fsm) => fsm.start)
    for (const step of steps) {
      const rows = fsms.map((fsm, i) => {
        const row = new Uint32Array(vocabulary.words)
        writeRecipe(fsm.mask(states[i]), row)
        return row
      })
      expect(rows[1]).toEqual(rows[0])
      expect(rows[2]).toEqual(rows[0])
      const allowed: number[] = []
      for (let id = 0; id < vocabulary.width - 1; id++)
        if ((rows[0][id >>> 5] >>> (id & 31)) & 1) allowed.push(id)
      if (allowed.length === 0) break
      const next = allowed[step % allowed.length]
      for (const [i, fsm] of fsms.entries()) states[i] = fsm.next(states[i], next)
    }
  }
  const tokens = fc.array(token, { minLength: 1, maxLength: 25 })
  const steps = fc.array(fc.nat(1_000), { minLength: 3, maxLength: 9 })
  fc.assert(fc.property(tokens, steps, run), { numRuns: 60, seed: 20261125 })
})
