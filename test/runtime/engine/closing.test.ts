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
import { bindGrammar, Matcher, TokenFsm, Vocabulary } from "../../../mask/index.ts"
import { Closing } from "../../../runtime/engine/closing.ts"
import { BannedWords } from "../../../runtime/guides/bannedwords.ts"
import type { Engine, GenerateOptions } from "../../../runtime/index.ts"
import { open } from "../../../runtime/open.ts"
import { generator, writeTinyModel } from "../../support/onnx.ts"

type Input = Parameters<typeof compile>[0]

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
    const matcher = new Matcher(bindGrammar(grammar, vocabulary))
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

describe("banned words", () => {
  const texts = ["a", "b", "ab", "ba", "aab", "bba"]
  /** The texts that can be written token by token by the rule, from any draws. */
  const written = (input: Input, words: string[], left = Number.POSITIVE_INFINITY) => {
    const machine = new TokenFsm(compile(input).grammar, vocabulary)
    const isBudgeted = Number.isFinite(left)
    const found = new Set<string>()
    const walk = (tokens: number[]): void => {
      const matcher = new Matcher(machine)
      const closing = new Closing(matcher, { isBudgeted, bans: new BannedWords(machine, words) })
      for (const token of tokens) {
        matcher.accept(token)
        closing.accept(token)
      }
      if (matcher.isAccepting()) found.add(tokens.map((token) => pieces[token]).join(""))
      for (const token of pieces.keys()) {
        if (!matcher.fork().accept(token)) continue
        const why = closing.misfitting(token, left - tokens.length - 1)
        if (why === null) walk([...tokens, token])
      }
    }
    walk([])
    return [...found].sort()
  }

  test.each<[string, Input, string[], string[]]>([
    ["a choice", { kind: "choice", options: ["ab1", "bb"] }, ["ab1"], ["bb"]],
    ["in any tokens", { kind: "choice", options: ["abb", "bba"] }, ["bb"], []],
    ["a word across parts", { kind: "regex", pattern: "(a|b){3}" }, ["ab"], ["aaa", "baa", "bba", "bbb"]],
    ["a dead end far ahead", { kind: "regex", pattern: "a:1bb|b:11" }, ["1b"], ["b:11"]],
    ["several words", { kind: "choice", options: texts }, ["aa", "bb", "ba"], ["a", "ab", "b"]],
    ["values of JSON", { kind: "json", schema: { enum: [{ a: 1 }, { b: 1 }] } }, ['"a"'], ['{"b":1}']],
  ])("%s", (_, input, words, expected) => {
    const machine = new TokenFsm(compile(input).grammar, vocabulary)
    const { need } = new Closing(new Matcher(machine), {
      isBudgeted: false,
      bans: new BannedWords(machine, words),
    })
    expect(Number.isFinite(need)).toBe(expected.length > 0)
    if (expected.length > 0) expect(written(input, words)).toEqual(expected)
  })

  test("within a budget both rules hold", () => {
    const input = { kind: "regex", pattern: "a*1|b:::::1" } as const
    expect(written(input, ["a"], 4)).toEqual(["1"])
    expect(written(input, ["aa"], 3)).toEqual(["1", "a1"])
  })

  test("a search ends where a word is in every text, though there are no end of them", () => {
    const machine = new TokenFsm(compile({ kind: "regex", pattern: "[^1]*1[^1]*" }).grammar, vocabulary)
    const bans = new BannedWords(machine, ["1"])
    expect(bans.completion(machine.start, 0)).toBe(null)
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

  const banned = (options: GenerateOptions) => engine.generate("?", { maxTokens: 60, ...options })
  test.each<[string, GenerateOptions, RegExp]>([
    ["a choice", { choice: ["yes", "no"], badWords: ["yes"] }, /^no$/],
    ["a pattern", { regex: "(yes|no|maybe){3}", badWords: ["yes", "be"] }, /^(no){3}$/],
    ["an enum", { schema: { enum: ["yes", "no"] }, badWords: ["yes"] }, /^"no"$/],
    ["a free string", { schema: { type: "string", maxLength: 6 }, badWords: ["e", "a", "t"] }, /^"[^eat]*"$/],
    ["with a budget", { regex: "a+b", badWords: ["aaaa"], onLength: "close", maxTokens: 9 }, /^a{1,3}b$/],
  ])("banned words are kept out of %s, however they are spelled", async (_, options, expected) => {
    for (const temperature of [0, 1, 100]) {
      const { text, warnings, finishReason } = await banned({ ...options, temperature, seed: 3n })
      expect([text, finishReason, warnings]).toEqual([expect.stringMatching(expected), "stop", []])
    }
  })

  test.each<[string, GenerateOptions, string]>([
    ["the only text", { choice: ["yes"], badWords: ["yes"] }, "yes"],
    [
      "a name that must stand",
      { schema: { const: { yes: 1 } }, whitespace: "compact", badWords: ["yes", "no"] },
      '{"yes":1}',
    ],
    ["one of two words", { choice: ["ab", "ac"], badWords: ["a", "b"] }, "ac"],
  ])("%s is written, and a warning says so", async (_, options, expected) => {
    const { text, warnings } = await banned(options)
    expect([text, warnings]).toEqual([expected, ["badWords: lifted where it left no token to choose"]])
  })

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

  test("a budget that the context cut is the context's: a shorter prompt is asked for", async () => {
    const need = await needOf()
    const contextLength = 512
    const promptTokens = contextLength - need + 1
    const prompt = Array.from({ length: promptTokens }, () => 5)
    for (const maxTokens of [need - 1, need, 1000]) {
      const refused = engine.start(prompt, {
        ...{ schema, maxTokens, raw: true, onLength: "close" },
        strictMaxTokens: false,
      })
      await expect(refused).rejects.toMatchObject({
        code: "context_length_exceeded",
        overflow: { contextLength, promptTokens, maxTokens: null, answerTokens: need },
      })
    }
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
