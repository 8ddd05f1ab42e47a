/** Decisions through the engine: probabilities against enumeration over a real graph, refusals, aborts. */
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { promptOf } from "../../../runtime/decisions/prompt.ts"
import { type Engine, type Question, RequestError } from "../../../runtime/index.ts"
import { open } from "../../../runtime/open.ts"
import { writeTinyModel } from "../../support/onnx.ts"

const letters = Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at)).map((char) =>
  char === " " ? "Ġ" : char,
)
const tokens = [...letters, "Ċ", "tr", "ue", "true", "fa", "ls", "al", "ab", "ba", "aba", "bab", "abab"]

let engine: Engine
beforeAll(async () => {
  engine = await open({
    model: writeTinyModel(mkdtempSync(join(tmpdir(), "tiny-")), { tokens, contextLength: 1_024 }),
    device: "cpu",
    slots: 4,
    threads: 1,
  })
})
afterAll(() => engine.close())

/** All token sequences that spell a text, and end. */
function spellings(text: string): number[][] {
  const { vocabulary } = engine
  if (text === "") return vocabulary.endIds.map((id) => [id])
  return Array.from({ length: vocabulary.width }, (_, id) => id).flatMap((id) => {
    const piece = new TextDecoder().decode(vocabulary.bytes(id))
    if (piece === "" || !text.startsWith(piece)) return []
    return spellings(text.slice(piece.length)).map((rest) => [id, ...rest])
  })
}

/** P(text) after the prompt, from the engine's log-probabilities of whole sequences. */
async function enumerate(prompt: readonly number[], text: string): Promise<number> {
  let sum = 0
  for (const spelling of spellings(text)) {
    const generation = await engine.start([...prompt, ...spelling], { maxTokens: 0, promptLogprobs: 0 })
    await generation.result
    const told = generation.promptLogprobs!.slice(prompt.length)
    sum += Math.exp(told.reduce((total, each) => total + each!.logprob, 0))
  }
  return sum
}

const input = "The rail runs north."
const choice = (...values: (string | boolean)[]): Question => ({
  ...{ type: "choice", instructions: "Which one?" },
  choices: values.map((value) => ({ value })),
})

describe("probabilities", () => {
  test.each<Question>([
    choice("a", "ab", "aba", "abab"),
    choice("ababab", "bababa"),
    choice(true, "maybe", false),
  ])("equal enumeration to 1e-12", async (question) => {
    const prompt = await engine.tokenize(promptOf(input, question), {
      templateOptions: { variables: { enable_thinking: false } },
    })
    const { answers } = await engine.decide(input, [question])
    const [answer] = answers
    if (answer.type !== "choice") throw new Error(answer.type)
    const exact: number[] = []
    for (const { value } of answer.probabilities) exact.push(await enumerate(prompt, String(value)))
    const mass = exact.reduce((a, b) => a + b, 0)
    expect(Math.abs(answer.mass - mass)).toBeLessThan(1e-12)
    for (const [index, { probability }] of answer.probabilities.entries())
      expect(Math.abs(probability - exact[index] / mass)).toBeLessThan(1e-12)
    const found = answer.probabilities.map(({ probability }) => probability)
    expect(Math.abs(found.reduce((a, b) => a + b, 0) - 1)).toBeLessThan(1e-12)
    expect(answer.confidence).toBe(Math.max(...found))
    expect(answer.choice).toBe(answer.probabilities[found.indexOf(answer.confidence)].value)
  })

  test("are the same bits alone, among others and beside a running answer", async () => {
    const questions = ["a", "ab", "ba", "aba"].map((value) => choice(value, "true", "b"))
    const alone: unknown[] = []
    for (const question of questions) alone.push((await engine.decide(input, [question])).answers[0])
    const running = engine.generate("hello", { maxTokens: 200, temperature: 1, seed: 1 })
    expect((await engine.decide(input, questions)).answers).toEqual(alone)
    await running
  })

  test("answers have the shapes of their questions", async () => {
    const { answers, usage } = await engine.decide(
      [{ role: "user", content: input }],
      [
        { type: "predicate", name: "north", instructions: "It runs north." },
        {
          type: "score",
          instructions: "How far?",
          levels: [{ label: "a" }, { label: "b", description: "far" }, { label: "ba" }],
        },
      ],
    )
    const [predicate, score] = answers
    expect(predicate).toEqual({
      ...{ type: "predicate", name: "north" },
      ...{ probability: expect.any(Number), mass: expect.any(Number) },
    })
    if (score.type !== "score") throw new Error(score.type)
    const { probabilities } = score
    expect(probabilities.map(({ label, value }) => [label, value])).toEqual([
      ["a", 0],
      ["b", 1],
      ["ba", 2],
    ])
    expect(score.score).toBeCloseTo(probabilities[1].probability + 2 * probabilities[2].probability, 12)
    expect(usage.forwards).toBeGreaterThan(answers.length)
    expect(usage.promptTokens).toBeGreaterThan(usage.cachedTokens)
  })
})

describe("refusals", () => {
  const option = { value: "a" }
  const refused: readonly [unknown, string][] = [
    [undefined, "questions"],
    [[], "questions"],
    [Array(401).fill(choice("a", "b")), "questions"],
    [[choice("a", "b"), { type: "guess", instructions: "x" }], "questions[1].type"],
    [[{ type: "predicate" }], "questions[0].instructions"],
    [[{ type: "predicate", instructions: " " }], "questions[0].instructions"],
    [[{ type: "predicate", instructions: "x", choices: [] }], "questions[0].choices"],
    [[{ type: "choice", instructions: "x" }], "questions[0].choices"],
    [[choice("a")], "questions[0].choices"],
    [[choice(...Array.from({ length: 256 }, (_, at) => `${at}`))], "questions[0].choices"],
    [[choice("a", "b", "a")], "questions[0].choices[2].value"],
    [[choice(true, "true")], "questions[0].choices[1].value"],
    [[choice("a", "")], "questions[0].choices[1].value"],
    [[choice("a", "\ud800")], "questions[0].choices[1].value"],
    [[choice("a", "b".repeat(257))], "questions[0].choices[1].value"],
    [[{ ...choice("a"), choices: [option, { value: 1 }] }], "questions[0].choices[1].value"],
    [[{ ...choice("a"), choices: [option, { value: "b", label: "c" }] }], "questions[0].choices[1].label"],
    [[{ type: "score", instructions: "x", levels: [{ label: "a" }] }], "questions[0].levels"],
    [[choice("a", "b"), { type: "predicate", instructions: "x".repeat(2_000) }], "questions[1]"],
    [[choice("ab".repeat(20), "b")], "questions[0].choices"],
  ]
  test("come before the answer, with the place", async () => {
    for (const [questions, param] of refused) {
      const asked = engine.decide(input, questions as Question[])
      const error = await asked.catch((caught) => caught)
      expect(error).toBeInstanceOf(RequestError)
      expect(error.param).toBe(param)
      expect(error.message.startsWith(param)).toBe(true)
    }
  })

  test("an abort ends the forwards", async () => {
    const end = new AbortController()
    const asked = engine.decide(input, [choice("ab".repeat(20), "b")], { signal: end.signal })
    setTimeout(() => end.abort(), 20)
    await expect(asked).rejects.toThrow("the request was aborted")
    await expect.poll(() => engine.load().running).toBe(0)
    await expect(engine.decide(input, [choice("a", "b")], { signal: end.signal })).rejects.toThrow("aborted")
  })
})

describe("scores", () => {
  test("are the log-probabilities of the tokens, as those of a prompt", async () => {
    const prompt = await engine.tokenize(input)
    const texts = ["true", "a b", "ab"]
    const { scores, usage } = await engine.score(input, texts)
    for (const [index, text] of texts.entries()) {
      const ids = engine.tokenizer.encodePart(text)
      const all = [...prompt, ...ids, engine.vocabulary.endIds[0]]
      const generation = await engine.start(all, { maxTokens: 0, promptLogprobs: 0 })
      await generation.result
      const told = generation.promptLogprobs!.slice(prompt.length).map((each) => each!.logprob)
      const { tokens, logprob, endLogprob } = scores[index]
      expect(tokens.map(({ token }) => token)).toEqual(ids)
      for (const [at, each] of tokens.entries()) expect(each.logprob).toBeCloseTo(told[at], 12)
      expect(endLogprob).toBeCloseTo(told.at(-1)!, 12)
      expect(logprob).toBeCloseTo(
        tokens.reduce((sum, each) => sum + each.logprob, 0),
        12,
      )
    }
    expect(usage.promptTokens).toBe(prompt.length)
  })

  test.each<[unknown, string]>([
    [undefined, "texts"],
    [[], "texts"],
    ["a", "texts"],
    [["a", ""], "texts[1]"],
    [["a", "x".repeat(2_000)], "texts[1]"],
  ])("wrong texts are refused at their place (%#)", async (texts, param) => {
    const asked = engine.score(input, texts as string[])
    await expect(asked).rejects.toThrow(expect.objectContaining({ param }))
  })
})
