/** Beam search through the engine: the texts that it finds, held against all there are, and what it refuses. */
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { AbortError } from "../../../runtime/errors.ts"
import type { Engine, GenerateOptions } from "../../../runtime/index.ts"
import { open } from "../../../runtime/open.ts"
import { writeTinyModel } from "../../support/onnx.ts"

let engine: Engine
beforeAll(async () => {
  engine = await open({
    model: writeTinyModel(mkdtempSync(join(tmpdir(), "tiny-"))),
    device: "cpu",
    slots: 4,
    threads: 1,
  })
})
afterAll(async () => engine.close())

const prompt = [104, 105]

/** The log-probability of a text behind the prompt, a byte a token. */
async function scoreOf(text: string): Promise<number> {
  const ids = [...prompt, ...Buffer.from(text)]
  const generation = await engine.start(ids, { maxTokens: 0, promptLogprobs: 0 })
  await generation.result
  return generation.promptLogprobs!.slice(prompt.length).reduce((sum, each) => sum + each!.logprob, 0)
}

async function ranked(texts: readonly string[], lengthPenalty = 1): Promise<string[]> {
  const scored: [string, number][] = []
  for (const text of texts) scored.push([text, (await scoreOf(text)) / text.length ** lengthPenalty])
  return scored.sort((a, b) => b[1] - a[1]).map(([text]) => text)
}

const textsOf = async (options: GenerateOptions): Promise<string[]> => {
  const { choices } = await engine.generate(prompt, { useBeamSearch: true, ...options })
  return choices.map(({ text }) => text)
}

const triples = ["a", "b"].flatMap((x) => ["a", "b"].flatMap((y) => ["a", "b"].map((z) => x + y + z)))

describe("under a constraint", () => {
  test("a search that is wide enough finds the likeliest texts, the best first", async () => {
    const best = await ranked(triples)
    expect(await textsOf({ regex: "[ab]{3}", beamWidth: 8, n: 3 })).toEqual(best.slice(0, 3))
    expect(await textsOf({ regex: "[ab]{3}", beamWidth: 8, n: 8 })).toEqual(best)
  })

  test("where there are fewer texts than answers, all of them are told", async () => {
    expect((await textsOf({ choice: ["x", "y"], n: 5 })).sort()).toEqual(["x", "y"])
  })

  test("texts of several lengths are compared by the penalty", async () => {
    const choice = ["q", "kkkkkk", "zz"]
    for (const lengthPenalty of [0, 1, 3]) {
      expect(await textsOf({ choice, beamWidth: 8, n: 3, lengthPenalty })).toEqual(
        await ranked(choice, lengthPenalty),
      )
    }
  })

  test("answers are those of any request: values, usage, log-probabilities, no draw", async () => {
    const schema = {
      type: "object",
      properties: { a: { enum: [1, 2] } },
      required: ["a"],
      additionalProperties: false,
    }
    const ask = { schema, useBeamSearch: true, beamWidth: 4, logprobs: 1, whitespace: "compact" } as const
    const [first, second] = [
      await engine.generate(prompt, ask),
      await engine.generate(prompt, { ...ask, seed: 5 }),
    ]
    expect([{ a: 1 }, { a: 2 }]).toContainEqual(first.value)
    expect(first).toMatchObject({ finishReason: "stop", stopReason: "complete", text: second.text })
    expect(first.logprobs?.length).toBe(first.tokens.length)
  })
})

describe("without a constraint", () => {
  test("one beam is greedy, and an end of sequence ends a text", async () => {
    const greedy = await engine.generate(prompt, { temperature: 0, maxTokens: 6 })
    const { choices } = await engine.generate(prompt, { useBeamSearch: true, beamWidth: 1, maxTokens: 6 })
    expect(choices[0].tokens).toEqual(greedy.tokens)
    const [end] = engine.vocabulary.endIds
    const ended = await engine.generate(prompt, {
      ...{ useBeamSearch: true, maxTokens: 6, logitBias: { [end]: 100 }, earlyStopping: true },
    })
    expect(ended).toMatchObject({ text: "", tokens: [end], finishReason: "stop", stopReason: null })
  })

  test("a stop id ends a text by its own name; below min_tokens nothing ends", async () => {
    const bias = { logitBias: { 120: 100 }, stopTokenIds: [120], maxTokens: 5, earlyStopping: true }
    const ended = await engine.generate(prompt, { useBeamSearch: true, ...bias })
    expect(ended).toMatchObject({ text: "", stopReason: 120 })
    const later = await engine.generate(prompt, { useBeamSearch: true, ...bias, minTokens: 3 })
    expect([later.tokens.length, later.stopReason]).toEqual([4, 120])
  })
})

test("an abort ends the search", async () => {
  const controller = new AbortController()
  const running = engine.generate(prompt, { useBeamSearch: true, maxTokens: 60, signal: controller.signal })
  setTimeout(() => controller.abort(), 20)
  await expect(running).rejects.toBeInstanceOf(AbortError)
  expect(engine.load()).toMatchObject({ running: 0, waiting: 0 })
})

test.each<[param: string, options: GenerateOptions]>([
  ["temperature", { useBeamSearch: true, temperature: 0.7 }],
  ["topP", { useBeamSearch: true, topP: 0.9 }],
  ["mirostat", { useBeamSearch: true, mirostat: 2 }],
  ["stop", { useBeamSearch: true, stop: "a" }],
  ["badWords", { useBeamSearch: true, badWords: ["a"] }],
  ["processors", { useBeamSearch: true, processors: [() => {}] }],
  ["logprobsMode", { useBeamSearch: true, logprobs: 1, logprobsMode: "processed_logprobs" }],
  ["n", { useBeamSearch: true, beamWidth: 2, n: 3 }],
  ["beamWidth", { useBeamSearch: true, beamWidth: 17 }],
  ["lengthPenalty", { useBeamSearch: true, lengthPenalty: Number.NaN }],
  ["beamWidth", { beamWidth: 3 }],
  ["lengthPenalty", { lengthPenalty: 2 }],
  ["earlyStopping", { earlyStopping: true }],
])("%s is refused in %j", async (param, options) => {
  await expect(engine.generate(prompt, { maxTokens: 4, ...options })).rejects.toMatchObject({ param })
})
