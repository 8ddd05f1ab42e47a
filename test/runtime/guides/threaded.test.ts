/** Walks in threads: the answers are those of walks in the engine's thread, whatever happens to the threads. */
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { GrammarError } from "../../../grammar/index.ts"
import { AbortError } from "../../../runtime/errors.ts"
import type { Engine, GenerateOptions } from "../../../runtime/index.ts"
import { open } from "../../../runtime/open.ts"
import { writeTinyModel } from "../../support/onnx.ts"

const directory = writeTinyModel(mkdtempSync(join(tmpdir(), "tiny-")))
const shared = { model: directory, device: "cpu", slots: 4, threads: 1 } as const
let local: Engine
let threaded: Engine

beforeAll(async () => {
  local = await open({ ...shared, isolation: "none" })
  threaded = await open({ ...shared, spareThreads: 2 })
})
afterAll(async () => {
  await local.close()
  await threaded.close()
})

const people = {
  type: "object",
  properties: {
    kind: { enum: ["alpha", "beta", "gamma"] },
    id: { type: "integer", minimum: -5, maximum: 4000 },
    names: { type: "array", items: { type: "string", maxLength: 6 }, maxItems: 3 },
  },
  required: ["kind", "id", "names"],
  additionalProperties: false,
}

const requests: [name: string, prompt: string, options: GenerateOptions][] = [
  ["an object", "p", { schema: people, n: 3 }],
  ["an object that closes", "p".repeat(40), { schema: people, onLength: "close", maxTokens: 60, n: 2 }],
  ["a pattern", "p", { regex: "[a-c]{3}-\\d{2,9}", n: 6 }],
  ["a long forced run", "p", { choice: [`${"x".repeat(200)}a`, `${"x".repeat(200)}b`] }],
  ["a stop string inside", "p", { regex: "(ab?c?)+", stop: ["c", "ba"], maxTokens: 40, n: 3 }],
  ["a stop pattern inside", "p", { regex: "[a-d0-9]{1,40}", stopRegex: ["[0-9]{2}", "ab"], n: 4 }],
  [
    "a stop pattern without a constraint",
    "p",
    { stopRegex: ["[a-m]"], ignoreEos: true, maxTokens: 60, n: 2 },
  ],
  ["a stop id", "p", { regex: "a+b+", stopTokenIds: [98], maxTokens: 30, n: 3 }],
  ["logits that are looked at", "p", { schema: people, logprobs: 2, logprobsMode: "raw_logits" }],
  ["ids that are allowed", "p", { regex: "[ab]{5}", allowedTokenIds: [97, 98], maxTokens: 9 }],
  ["a healed prompt", "say ab", { regex: "abc?d{2}", raw: true, heal: true }],
  ["no constraint", "p", { maxTokens: 20, ignoreEos: true }],
]

async function answer(engine: Engine, prompt: string, options: GenerateOptions) {
  const generation = await engine.start(prompt, { temperature: 1, seed: 5n, ...options })
  const { choices, warnings } = await generation.result
  return {
    warnings,
    choices: choices.map(({ text, tokens, finishReason, stopReason, message, logprobs }) => ({
      ...{ text, tokens, finishReason, stopReason, message, logprobs },
    })),
  }
}

/** Ends the thread that serves what is quick, as a crash would. */
async function endHome(engine: Engine): Promise<void> {
  const { guides } = (engine as unknown as { parts: { guides: unknown } }).parts
  const { placement } = guides as {
    placement: { threads: { home: { worker: { terminate(): Promise<number> } } } }
  }
  await placement.threads.home.worker.terminate()
}

test.each(requests)("%s: the tokens of walks in the engine's thread", async (_, prompt, options) => {
  expect(await answer(threaded, prompt, options)).toEqual(await answer(local, prompt, options))
})

test("all together they are those of each alone", async () => {
  const alone = []
  for (const [, prompt, options] of requests) alone.push(await answer(local, prompt, options))
  const together = await Promise.all(requests.map(([, ...request]) => answer(threaded, ...request)))
  expect(together).toEqual(alone)
})

test("threads that end in the middle change nothing: the tokens so far are replayed in another one", async () => {
  const asked = [...requests, ...requests]
  const expected = await Promise.all(asked.map(([, ...request]) => answer(local, ...request)))
  const running = asked.map(([, ...request]) => answer(threaded, ...request))
  for (let round = 0; round < 4; round++) {
    const target = threaded.metrics.steps + 5
    while (threaded.metrics.steps < target && threaded.load().running > 0)
      await new Promise((resolve) => setImmediate(resolve))
    await endHome(threaded)
  }
  expect(await Promise.all(running)).toEqual(expected)
})

describe("what takes too long is stopped, and fails alone", () => {
  /** Takes seconds to compile, in loops that no clock is looked at in. */
  const hard = {
    type: "array",
    minItems: 8,
    prefixItems: Array.from({ length: 8 }, (_, item) => ({
      type: "integer",
      allOf: Array.from({ length: 400 }, (_, i) => ({ not: { multipleOf: 101 + 8 * i + item } })),
    })),
  }
  let bounded: Engine

  beforeAll(async () => {
    bounded = await open({
      ...shared,
      spareThreads: 2,
      limits: { compileMs: 400, maskMs: 400, completionMs: 400 },
    })
  })
  afterAll(() => bounded.close())

  test("with its own error, beside others that see nothing of it", async () => {
    const others = requests.slice(0, 6)
    const expected = await Promise.all(others.map(([, ...request]) => answer(local, ...request)))
    const running = others.map(([, ...request]) => answer(bounded, ...request))
    const refused = await bounded
      .generate("p", { schema: hard, maxTokens: 50 })
      .then(() => null)
      .catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(GrammarError)
    // Where more threads want to run than there are cores, the 400 ms are stretched.
    expect(refused).toMatchObject({ kind: "limit", message: expect.stringMatching(/bound of \d+ ms. Raise/) })
    expect(await Promise.all(running)).toEqual(expected)
    expect(bounded.load()).toEqual({ running: 0, waiting: 0, slots: 4 })
  })

  test("an abort in the middle of a compilation ends it, and the engine goes on", async () => {
    const slow = await open({ ...shared })
    const controller = new AbortController()
    const started = slow.start("p", { schema: hard, signal: controller.signal }).catch((error) => error)
    setTimeout(() => controller.abort(), 40)
    expect(await started).toBeInstanceOf(AbortError)
    expect((await slow.generate("p", { choice: ["fine"] })).text).toBe("fine")
    await slow.close()
  })
})

test("a constraint that was refused is refused again, and one that no message can carry by its own words", async () => {
  const empty = { type: "integer", minimum: 3, maximum: 2 }
  for (let round = 0; round < 2; round++)
    await expect(threaded.start("p", { schema: empty })).rejects.toMatchObject({ kind: "unsatisfiable" })
  const odd = { ...people, hook: () => 1 }
  await expect(threaded.start("p", { schema: odd })).rejects.toThrow(/\/hook: .* is not a JSON value/)
})

test("the report comes with the answer, made at once or when it is read", async () => {
  const early = await threaded.generate("p", { schema: people, report: true })
  const late = await threaded.generate("p", { schema: people })
  expect(early.report?.counts).toEqual(late.report?.counts)
  expect(early.report?.counts.exact).toBeGreaterThan(5)
})

test("a constraint that is known begins before its thread has said a word, and ends in the same answer", async () => {
  const options: GenerateOptions = { schema: { ...people, title: "known" }, temperature: 1, seed: 3n }
  const first = await threaded.generate("p", options)
  let generation: Awaited<ReturnType<Engine["start"]>> | undefined
  void threaded.start("p", options).then((started) => {
    generation = started
  })
  // No message can come in between.
  for (let turn = 0; turn < 40 && !generation; turn++) await null
  const { choices, usage } = await generation!.result
  expect([choices[0].text, usage.compileMs]).toEqual([first.choices[0].text, 0])
  expect(generation!.report?.keywords).toEqual(first.report?.keywords)
})

test("an abort in the moment in which a constraint is ready ends the request, and its walks", async () => {
  const { guides } = threaded as unknown as { guides: { open: (...args: unknown[]) => Promise<unknown> } }
  const { placement } = (threaded as unknown as { parts: { guides: unknown } }).parts.guides as {
    placement: { groups: Map<number, unknown> }
  }
  const controller = new AbortController()
  const opening = vi.spyOn(guides, "open").mockImplementationOnce(async (...args) => {
    opening.mockRestore()
    const opened = await guides.open(...args)
    controller.abort()
    return opened
  })
  const started = threaded.start("p", { schema: people, signal: controller.signal })
  await expect(started).rejects.toThrow(AbortError)
  expect([threaded.load().running, threaded.load().waiting, placement.groups.size]).toEqual([0, 0, 0])
})
