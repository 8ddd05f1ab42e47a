/** Turns as text files: what each style accepts, as bytes and with the control tokens of a vocabulary. */
import { expect, test } from "vitest"
import { Rules } from "../../../../grammar/ebnf/rules.ts"
import { defaultLimits } from "../../../../grammar/errors.ts"
import { compileJsonSchema } from "../../../../grammar/json/compile.ts"
import { toolsRule } from "../../../../grammar/tags/styles/turn.ts"
import { isAllowed, Matcher, TokenFsm, Vocabulary } from "../../../../mask/index.ts"
import { testCases } from "../../../support/cases.ts"
import { options, tool } from "./support.ts"

const closed = { type: "object", additionalProperties: false }
const tools: Record<string, unknown> = {
  math: tool("math", {
    ...closed,
    properties: { n: { type: "integer" }, note: { type: "string" } },
    required: ["n"],
  }),
  ping: tool("ping"),
  typed: tool("typed", {
    ...closed,
    properties: {
      text: { type: "string", maxLength: 4 },
      n: { type: "number" },
      word: { enum: ["up", "down", null] },
    },
    required: ["text"],
  }),
  open: tool("open", {}),
}

testCases("styles", ({ grammar: text }, tokens) => {
  const fields = JSON.parse(text)
  const json = { ...options, unsatisfiable: "error" as const, key: () => "" }
  const { response_format: schema } = fields
  const turn = {
    ...fields,
    tools: fields.tools.map((name: string) => tools[name]),
    response_format: schema === undefined ? null : compileJsonSchema(schema, json).grammar,
  }
  const rules = new Rules(defaultLimits, tokens ?? null)
  const grammar = rules.grammar(toolsRule(turn, rules, options), { key: () => text, title: "" })
  return grammar!
})

test("a control token that ends the text is left to the end", () => {
  const names = [
    "<|start|>",
    "<|end|>",
    "<|message|>",
    "<|channel|>",
    "<|constrain|>",
    "<|return|>",
    "<|call|>",
  ]
  const bytes = Array.from({ length: 128 }, (_, byte) => Uint8Array.of(byte))
  const specials = new Map(names.map((name, i) => [name, bytes.length + i]))
  const vocabulary = Vocabulary.fromBytes([...bytes, ...names.map(() => null)], {
    endIds: [specials.get("<|return|>")!, specials.get("<|call|>")!],
    specials,
  })
  const { endIds, width, hash } = vocabulary
  const rules = new Rules(defaultLimits, {
    specials,
    endIds,
    width,
    hash,
    bytes: (id) => vocabulary.bytes(id),
  })
  const rule = toolsRule({ style: "harmony", tools: [tools.ping] }, rules, options)
  const fsm = new TokenFsm(rules.grammar(rule, { key: () => "", title: "" })!, vocabulary)
  const read = (pieces: readonly string[]) => {
    const matcher = new Matcher(fsm)
    for (const piece of pieces) {
      const id = specials.get(piece)
      const ids = id === undefined ? [...new TextEncoder().encode(piece)] : [id]
      for (const each of ids) expect([piece, matcher.accept(each)]).toEqual([piece, true])
    }
    const row = new Uint32Array(vocabulary.words)
    matcher.fillMask(row)
    return Array.from({ length: width }, (_, id) => id).filter((id) => isAllowed(row, id))
  }
  const call = ["<|channel|>", "commentary to=functions.ping", "<|constrain|>", "json", "<|message|>", "{}"]
  expect(read(call)).toEqual([...endIds].sort((a, b) => a - b))
  const answer = read(["<|channel|>", "final", "<|message|>", "Hello"])
  expect(answer.filter((id) => id >= bytes.length)).toEqual(
    ["<|end|>", "<|return|>", "<|call|>"].map((name) => specials.get(name)),
  )
})
