/** Models whose templates and tokenizers mean harm: they take their own requests down, and nothing beside them. */
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { type Engine, ModelError, open, RequestError } from "../../../runtime/index.ts"
import { OutOfTimeError } from "../../../runtime/prompt/encoder.ts"
import { tryTokenizer } from "../../../runtime/prompt/trial.ts"
import { within } from "../../../runtime/prompt/within.ts"
import { type TinyOptions, writeTinyModel } from "../../support/onnx.ts"

const promptMs = 1_500

function modelOf(options: TinyOptions, changed: Record<string, unknown> = {}): string {
  const model = writeTinyModel(mkdtempSync(join(tmpdir(), "hostile-")), options)
  const path = join(model, "tokenizer.json")
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, "utf8")), ...changed }))
  return model
}

const openIt = (model: string) => open({ model, device: "cpu", threads: 1, slots: 2, limits: { promptMs } })

const conversation = [{ role: "user", content: "Hi" }]

/** What the engine answers, and how often a timer fired meanwhile. */
async function refusal(work: Promise<unknown>): Promise<{ error: unknown; ticks: number }> {
  let ticks = 0
  const timer = setInterval(() => ticks++, 20)
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  )
  clearInterval(timer)
  return { error, ticks }
}

async function isRefused(engine: Engine, work: Promise<unknown>, param: string): Promise<void> {
  const others = engine.generate([1, 2, 3], { maxTokens: 4, ignoreEos: true })
  const { error, ticks } = await refusal(work)
  expect(error).toBeInstanceOf(RequestError)
  expect(error).toMatchObject({
    param,
    message: expect.stringMatching(/takes more than 1500 ms .*choose another model/),
  })
  // The event loop was free, give or take what else this machine does.
  expect(ticks).toBeGreaterThan(10)
  expect((await others).tokens.length).toBe(4)
}

const nested =
  "{% for i in range(100000) %}{% for j in range(100000) %}{% set x = i %}{% endfor %}{% endfor %}"

describe("a template that does not end", () => {
  test.each<[name: string, template: string]>([
    ["loops", nested],
    [
      "recursion in width",
      "{% macro f(n) %}{% if n > 0 %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}",
    ],
    [
      "values that double in depth",
      "{% set n = namespace(d={'x': 1}) %}{% for i in range(60) %}{% set n.d = {'a': n.d, 'b': n.d} %}{% endfor %}{{ n.d|tojson }}",
    ],
  ])("%s", async (_, template) => {
    const engine = await openIt(modelOf({ template }))
    const ask = () => engine.generate(conversation, { maxTokens: 1 })
    await isRefused(engine, ask(), "messages")
    // The next one does not hold this thread at all.
    await isRefused(engine, ask(), "messages")
    // Prompts without the template are as ever.
    expect((await engine.generate("Hi", { raw: true, maxTokens: 2, ignoreEos: true })).tokens.length).toBe(2)
    await engine.close()
  })

  test("only for some texts: the others are answered, before and after", async () => {
    const template = `{% if 'slow' in messages[0].content %}${nested}{% endif %}{{ messages[0].content }}`
    const engine = await openIt(modelOf({ template }))
    const ask = (content: string) =>
      engine.generate([{ role: "user", content }], { maxTokens: 1, ignoreEos: true })
    expect((await ask("quick")).tokens.length).toBe(1)
    await isRefused(engine, ask("slow"), "messages")
    for (let i = 0; i < 3; i++) expect((await ask("quick")).tokens.length).toBe(1)
    await engine.close()
  })
})

test.each<[name: string, template: string]>([
  [
    "texts that double",
    "{% set n = namespace(s='aaaaaaaa') %}{% for i in range(60) %}{% set n.s = n.s ~ n.s %}{% endfor %}{{ n.s }}",
  ],
  [
    "lists that double",
    "{% set n = namespace(s=[1]) %}{% for i in range(60) %}{% set n.s = n.s + n.s %}{% endfor %}{{ n.s }}",
  ],
  ["a text many times", "{{ 'a' * 1000000000 }}"],
  ["a list many times", "{{ [0] * 1000000000 }}"],
  ["a wide text", "{{ 'a'|center(1000000000) }}"],
  ["a wide number", "{{ '%1000000000d' % 1 }}"],
])("a template that makes %s is refused with its size", async (_, template) => {
  const engine = await openIt(modelOf({ template }))
  const { error } = await refusal(engine.generate(conversation, { maxTokens: 1 }))
  expect(error).toMatchObject({
    param: "messages",
    message: expect.stringMatching(/^chat template: a (text|list) of more than \d+ (characters|items)/),
  })
  await engine.close()
})

test("a tokenizer whose pattern does not end", async () => {
  const evil = { type: "Split", pattern: { Regex: "(?:a|a)*c" }, behavior: "Isolated", invert: false }
  const bytes = { type: "ByteLevel", add_prefix_space: false, use_regex: false, trim_offsets: true }
  const engine = await openIt(
    modelOf({}, { pre_tokenizer: { type: "Sequence", pretokenizers: [evil, bytes] } }),
  )
  const slow = "a".repeat(60)
  await isRefused(engine, engine.generate(slow, { raw: true, maxTokens: 1 }), "prompt")
  const { error } = await refusal(engine.generate("Hi", { raw: true, maxTokens: 1, badWords: [slow] }))
  expect(error).toMatchObject({
    message: expect.stringMatching(/words of this request take more than 250 ms/),
  })
  expect((await engine.generate("Hi", { raw: true, maxTokens: 2, ignoreEos: true })).tokens.length).toBe(2)
  await engine.close()
})

test("a tokenizer that is not read in its time is refused before this thread reads it", async () => {
  const model = modelOf({})
  const { error } = await refusal(tryTokenizer({ model, dtype: undefined }, 1).done)
  expect(error).toBeInstanceOf(ModelError)
  expect((error as Error).message).toMatch(
    /^.*hostile.*: reading its tokenizer and its chat templates takes more than 1 ms/,
  )
  await expect(tryTokenizer({ model, dtype: undefined }).done).resolves.toBeUndefined()
})

test.each([
  ["tokenizer.json", 2 ** 27 + 1],
  ["config.json", 2 ** 24 + 1],
  ["chat_template.jinja", 2 ** 20 + 1],
])("a %s of %i bytes is not read", async (file, bytes) => {
  const model = modelOf({})
  writeFileSync(join(model, file), Buffer.alloc(bytes, 32))
  await expect(openIt(model)).rejects.toThrow(
    new RegExp(`${file}: ${bytes} bytes, above the limit of ${bytes - 1}`),
  )
})

describe("work within its time", () => {
  test("returns and throws what it returns and throws, also within other such work", () => {
    expect(within(1_000, () => within(1_000, () => [1]))).toEqual([1])
    const error = new TypeError("mine")
    expect(() =>
      within(1_000, () =>
        within(1_000, () => {
          throw error
        }),
      ),
    ).toThrow(error)
  })

  test.each<[name: string, work: () => unknown]>([
    [
      "a loop",
      () => {
        for (;;);
      },
    ],
    ["a regular expression", () => /^(a|a)*c/.test("a".repeat(60))],
    [
      "a replacement",
      () => {
        for (let text = "a"; ; ) text = text.replaceAll("a", "a")
      },
    ],
  ])("%s is ended", (_, work) => {
    expect(() => within(20, work)).toThrow(OutOfTimeError)
    expect(within(1_000, () => 1)).toBe(1)
  })
})
