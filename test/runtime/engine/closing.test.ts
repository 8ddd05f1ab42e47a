import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Ajv2020 } from "ajv/dist/2020.js"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { Rules } from "../../../grammar/ebnf/rules.ts"
import { defaultLimits } from "../../../grammar/errors.ts"
import type { Grammar } from "../../../grammar/grammar.ts"
import { compile } from "../../../grammar/index.ts"
import { exprs } from "../../../grammar/lexeme/expr/expr.ts"
import { Matcher, TokenFsm, Vocabulary } from "../../../mask/index.ts"
import { Closing } from "../../../runtime/engine/closing.ts"
import type { Engine } from "../../../runtime/index.ts"
import { open } from "../../../runtime/open.ts"
import { generator, writeTinyModel } from "../../support/onnx.ts"

const pieces = ["a", "b", "ab", "bb", '"', "{", "}", ":", ",", "1", '":', '{"']
const vocabulary = Vocabulary.fromBytes(
  pieces.map((piece) => Buffer.from(piece)),
  { endIds: [pieces.length] },
)
const closingOf = (pattern: string) => {
  const matcher = new Matcher(new TokenFsm(compile({ kind: "regex", pattern }).grammar, vocabulary))
  return { matcher, closing: new Closing(matcher) }
}

describe("the completion in hand", () => {
  test("its length is the need, and along it the need falls by one", () => {
    const { matcher, closing } = closingOf("a[ab]{6}b")
    for (let need = closing.need; need > 0; need--) {
      expect(closing.need).toBe(need)
      expect(closing.fits(closing.next, need - 1)).toBe(true)
      const { next } = closing
      expect(matcher.accept(next)).toBe(true)
      closing.accept(next)
    }
    expect([closing.next, matcher.isAccepting()]).toEqual([-1, true])
  })

  test("a token fits exactly when the rest does", () => {
    const { closing } = closingOf("b|a{5}")
    const a = pieces.indexOf("a")
    expect([closing.need, closing.fits(a, 4), closing.fits(a, 3)]).toEqual([1, true, false])
    expect(closing.fits(pieces.length, 0)).toBe(true)
  })

  test("a part that takes so many tokens only is planned token by token", () => {
    // "ab" is longer than "a", and behind it "b1" would take two tokens more, of one that is left.
    const rules = new Rules(defaultLimits)
    const { terms } = rules
    const start = rules.declare("start")
    rules.define(start, [], () =>
      terms.concat(terms.text("a"), terms.budget(terms.whole(exprs.literal("bb1")), 2), terms.text(":")),
    )
    const grammar = rules.grammar(start, { key: () => "", title: "" }) as Grammar
    const matcher = new Matcher(new TokenFsm(grammar, vocabulary))
    const closing = new Closing(matcher)
    expect(closing.need).toBe(4)
    while (closing.next >= 0) {
      const { next } = closing
      expect(matcher.accept(next)).toBe(true)
      closing.accept(next)
    }
    expect(matcher.isAccepting()).toBe(true)
  })

  test("what the vocabulary cannot write has no plan", () => {
    expect(closingOf("xyz").closing.need).toBe(Number.POSITIVE_INFINITY)
  })
})

describe("in the engine", () => {
  let engine: Engine
  beforeAll(async () => {
    const model = writeTinyModel(mkdtempSync(join(tmpdir(), "tiny-")))
    engine = await open({ model, slots: 4, threads: 1, device: "cpu" })
  })
  afterAll(async () => engine.close())

  const schema = {
    type: "object",
    properties: {
      name: { type: "string" },
      tags: { type: "array", items: { type: "string" } },
      at: {
        type: "object",
        properties: { x: { type: "integer" } },
        required: ["x"],
        additionalProperties: false,
      },
    },
    required: ["name", "at"],
    additionalProperties: false,
  }
  const needOf = async (): Promise<number> => {
    const refusal = await engine
      .start("?", { schema, maxTokens: 1, onLength: "close" })
      .catch((error: Error) => error)
    return Number(/takes (\d+) tokens/.exec((refusal as Error).message)?.[1])
  }

  test("every budget from the shortest answer on gives a complete, valid one", async () => {
    const validate = new Ajv2020().compile(schema)
    const need = await needOf()
    expect(need).toBeGreaterThan(10)
    const random = generator(4)
    const reasons = new Set<unknown>()
    const results = await Promise.all(
      Array.from({ length: 60 }, (_, index) => {
        const maxTokens = index < 5 ? need : need + Math.floor(random() * 60)
        const options = {
          schema,
          maxTokens,
          temperature: 1.5,
          seed: BigInt(index),
          onLength: "close" as const,
        }
        return engine.generate("?", options)
      }),
    )
    for (const { value, text, stopReason, finishReason } of results) {
      expect([finishReason, validate(value), text]).toEqual(["stop", true, text])
      reasons.add(stopReason)
    }
    expect(reasons).toContain("closed")
  })

  test("until the budget binds, it changes nothing", async () => {
    const options = { choice: ["yes", "no", "maybe"], seed: 5n, maxTokens: 100 }
    const cut = await engine.generate("?", options)
    const closed = await engine.generate("?", { ...options, onLength: "close" })
    expect([closed.text, closed.stopReason]).toEqual([cut.text, "complete"])
  })

  test("a smaller budget is refused, with both numbers", async () => {
    const need = await needOf()
    const refused = engine.start("?", { schema, maxTokens: need - 1, onLength: "close" })
    await expect(refused).rejects.toMatchObject({
      code: "max_tokens_too_small",
      message: expect.stringMatching(new RegExp(`${need - 1} are too few .* takes ${need} tokens`)),
    })
  })
})
