/** Healed prompts in the engine, with the shipped model and its tokenizer. */
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { Engine, GenerateOptions } from "../../../runtime/index.ts"
import { open } from "../../../runtime/open.ts"

const prompt = 'Anna Weber is 31.\n{"name":"Anna Weber"'
const regex = ',"age":"[0-9]{1,3}"(,"city":"[A-Z][a-z]{1,8}")?\\}'

let engine: Engine
beforeAll(async () => {
  engine = await open({ device: "cpu", slots: 4, threads: 1 })
})
afterAll(async () => engine.close())

const ask = (options: GenerateOptions = {}) =>
  engine.generate(prompt, { raw: true, regex, heal: true, temperature: 0, onLength: "close", ...options })
const spelled = (tokens: readonly number[]) =>
  Buffer.concat(tokens.map((id) => engine.vocabulary.bytes(id))).toString()

describe("heal", () => {
  test("writes the end of the prompt again, in the tokens of the whole text; the answer begins behind it", async () => {
    const healed = await ask()
    const plain = await ask({ heal: false })
    const promptIds = engine.tokenizer.encode(prompt)
    expect(healed.text).toMatch(new RegExp(`^${regex}$`))
    expect(plain.text).toMatch(new RegExp(`^${regex}$`))
    expect(plain.usage.promptTokens).toBe(promptIds.length)
    expect(healed.usage.promptTokens).toBe(promptIds.length - 1)
    expect(spelled(healed.tokens)).toBe(`"${healed.text}`)
    expect(spelled(plain.tokens)).toBe(plain.text)
    const whole = engine.tokenizer.encode(prompt + healed.text)
    expect([...promptIds.slice(0, -1), ...healed.tokens].slice(0, promptIds.length)).toEqual(
      whole.slice(0, promptIds.length),
    )
    expect(healed.tokens[0]).not.toBe(promptIds.at(-1))
  })

  test("streams, stops and budgets know of the answer alone", async () => {
    const { text } = await ask()
    let streamed = ""
    for await (const event of engine.stream(prompt, { raw: true, regex, heal: true, temperature: 0 }))
      if (event.type === "text") streamed += event.text
    expect(streamed).toBe(text)
    // A stop string counts where the answer is complete.
    const neverEnds = Object.fromEntries(engine.vocabulary.endIds.map((id) => [id, -100]))
    const goesOn = { regex: ',"a"(:1|:1:1:1)', stop: ":1", logitBias: neverEnds }
    const [stopped] = (await ask(goesOn)).choices
    expect([stopped.text, stopped.stopReason]).toEqual([',"a":1', ":1"])
    const short = await ask({ maxTokens: 12 })
    expect(short.text).toMatch(new RegExp(`^${regex}$`))
    expect(short.tokens.length).toBeLessThanOrEqual(12)
  })

  test("every choice is healed, drafts change nothing", async () => {
    const { text } = await ask()
    const many = await ask({ n: 3, temperature: 1.2, seed: 3n })
    for (const choice of many.choices) expect(choice.text).toMatch(new RegExp(`^${regex}$`))
    const drafting = await open({
      device: "cpu",
      slots: 1,
      threads: 1,
      speculation: { method: "ngram", min: 1 },
    })
    const options = { raw: true, regex, heal: true, temperature: 0, onLength: "close" } as const
    expect((await drafting.generate(prompt, options)).text).toBe(text)
    await drafting.close()
  })

  test("changes nothing behind a chat template, or where nothing reaches across", async () => {
    const options = { regex: "[a-z]{1,8}", temperature: 0 } as const
    const { usage, ...chat } = await engine.generate("Which colour?", { ...options, heal: true })
    expect(chat.tokens).toEqual((await engine.generate("Which colour?", options)).tokens)
    const promptIds = engine.tokenizer.encode("a")
    expect(promptIds).toHaveLength(1)
    const one = await engine.generate(promptIds, { ...options, heal: true })
    expect(one.usage.promptTokens).toBe(1)
    expect(usage.promptTokens).toBeGreaterThan(1)
  })

  test("is refused without a constraint", async () => {
    await expect(engine.generate("a", { heal: true })).rejects.toThrow(
      /^heal: true rewrites the end of a prompt/,
    )
  })
})
