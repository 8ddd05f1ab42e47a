/** The thread of a model dies in the middle of everything: what ran ends with an error, and all else goes on. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { type Engine, type OpenOptions, open } from "../../../../runtime/index.ts"
import { killModel } from "../../../support/killmodel.ts"
import { writeTinyModel } from "../../../support/onnx.ts"

const directory = writeTinyModel(mkdtempSync(join(tmpdir(), "tiny-")))
const openTiny = (more: OpenOptions = {}) =>
  open({ model: directory, device: "cpu", slots: 4, threads: 1, ...more })
const options = { temperature: 0, maxTokens: 40, ignoreEos: true }
/** Longer than a chunk, so that the next request with it takes it over. */
const prompt = (name: string) => name.repeat(150)

async function streamed(engine: Engine, name: string, begun: () => void): Promise<string> {
  let text = ""
  for await (const event of engine.stream(prompt(name), { ...options, maxTokens: 300 })) {
    if (event.type === "finish") return `${event.finishReason}: ${event.message}`
    if (event.type !== "text") continue
    if (text === "") begun()
    text += event.text
  }
  return text
}

test("streams end with the error, what waits is answered, and later tokens are those of before", async () => {
  const engine = await openTiny()
  const before = await engine.generate(prompt("a"), options)
  let begunCount = 0
  let tellBegun = () => {}
  const allBegun = new Promise<void>((resolve) => {
    tellBegun = () => ++begunCount === 4 && resolve()
  })
  const running = ["a", "b", "c", "d"].map((name) => streamed(engine, name, tellBegun))
  const waiting = engine.generate(prompt("a"), options)
  await allBegun
  await killModel(engine)
  expect(engine.isRestarting).toBe(true)
  const error = expect.stringMatching(/^error: the model.s thread failed: .*; it is being started again$/)
  expect(await Promise.all(running)).toEqual([error, error, error, error])
  expect((await waiting).tokens).toEqual(before.tokens)
  expect([engine.isRestarting, engine.isDead]).toEqual([false, false])
  const after = await engine.generate(prompt("a"), options)
  expect([after.tokens, after.usage.cachedTokens]).toEqual([before.tokens, 96])
  await engine.close()
})

test("an idle model that dies has lost its prompts, and is dead when it dies again", async () => {
  const engine = await openTiny()
  const before = await engine.generate(prompt("a"), options)
  await killModel(engine)
  const after = await engine.generate(prompt("a"), options)
  expect([after.tokens, after.usage.cachedTokens]).toEqual([before.tokens, 0])
  await killModel(engine)
  expect(engine.isDead).toBe(true)
  await expect(engine.generate("a")).rejects.toThrow("the model is lost: the model's thread failed")
  await engine.close()
})

test("a graph that cannot be loaded again is the end, also of what waits", async () => {
  const gone = writeTinyModel(mkdtempSync(join(tmpdir(), "tiny-")))
  const engine = await openTiny({ model: gone })
  rmSync(gone, { recursive: true })
  await killModel(engine)
  const message = /could not be started again: .*model\.onnx/
  await expect(engine.generate("a", options)).rejects.toThrow(message)
  expect(engine.isDead).toBe(true)
  await engine.close()
})

test("drafts of a second model go on after the first was started again", async () => {
  const draft = writeTinyModel(mkdtempSync(join(tmpdir(), "tiny-")), { noise: 0.02 })
  const engine = await openTiny({
    speculation: { method: "model", model: draft, tokens: 3, adaptive: false },
  })
  const before = await engine.generate(prompt("a"), options)
  await killModel(engine)
  const after = await engine.generate(prompt("a"), options)
  expect(after.tokens).toEqual(before.tokens)
  expect(after.usage.acceptedTokens).toBeGreaterThan(0)
  await engine.close()
})

test("closing while the model is being loaded again ends", async () => {
  const engine = await openTiny()
  await killModel(engine)
  await engine.close()
})
