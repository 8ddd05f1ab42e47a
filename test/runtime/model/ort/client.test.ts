import { mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { ModelError } from "../../../../runtime/errors.ts"
import { type LoadOptions, openOrtModel } from "../../../../runtime/model/ort/client.ts"
import { type TinyOptions, writeTinyModel } from "../../../support/onnx.ts"

function loadOptions(options: TinyOptions = {}): LoadOptions {
  const directory = writeTinyModel(mkdtempSync(join(tmpdir(), "tiny-")), options)
  return {
    graphPath: join(directory, "onnx/model.onnx"),
    provider: "cpu",
    threads: 1,
    slotCount: 4,
    contextLength: 512,
    batching: "exact",
    readsAhead: false,
    config: JSON.parse(readFileSync(join(directory, "config.json"), "utf8")),
  }
}

describe("the model in its thread", () => {
  test("answers batches, survives a failed one, and ends when closed", async () => {
    const model = await openOrtModel(loadOptions())
    expect([model.width, model.canRewind, model.isDead]).toEqual([261, true, false])
    const feed = { slot: 0, start: 0, tokens: [1, 2, 3], logitsCount: 1 }
    const first = (await model.forward([feed])).host!.slice()
    expect(first.length).toBe(261)
    await expect(model.forward([{ ...feed, start: 3, tokens: [9999] }])).rejects.toThrow(ModelError)
    expect((await model.forward([feed])).host!.slice()).toEqual(first)
    expect(model.answeredAt).toBeGreaterThan(performance.now() - 1000)
    expect(model.answeredAt).toBeLessThanOrEqual(performance.now() + 1)
    await model.close()
  })

  test("the number of threads of a small graph is chosen by trial, and answers are those of one thread", async () => {
    const options = loadOptions()
    const models = [await openOrtModel(options), await openOrtModel({ ...options, threads: undefined })]
    expect(models.map(({ description }) => description)).toEqual([
      expect.stringMatching(/, threads: 1$/),
      expect.stringMatching(/, threads: [1-9]\d*$/),
    ])
    const feed = { slot: 0, start: 0, tokens: [1, 2, 3], logitsCount: 1 }
    const [one, chosen] = await Promise.all(
      models.map(async (model) => (await model.forward([feed])).host!.slice()),
    )
    expect(chosen).toEqual(one)
    for (const model of models) await model.close()
  })

  test("this thread's timers go on while the model runs", async () => {
    const model = await openOrtModel(loadOptions({ width: 60_000 }))
    let lateMs = 0
    let last = performance.now()
    let tickCount = 0
    const timer = setInterval(() => {
      lateMs = Math.max(lateMs, performance.now() - last - 5)
      last = performance.now()
      tickCount++
    }, 5)
    const start = performance.now()
    // Logits of 500 positions of 60,000 columns keep the worker busy for a while.
    const tokens = Array.from({ length: 500 }, (_, at) => at % 256)
    await model.forward([{ slot: 0, start: 0, tokens, logitsCount: 1 }])
    const elapsed = performance.now() - start
    clearInterval(timer)
    expect(tickCount).toBeGreaterThan(elapsed / 40)
    await model.close()
  })

  test.each<[name: string, options: LoadOptions, message: RegExp]>([
    [
      "an unknown input",
      loadOptions({ extraInput: "pixel_values" }),
      /model\.onnx: input pixel_values is unknown/,
    ],
    ["no cache", loadOptions({ hasCache: false }), /no past_key_values inputs/],
    ["no file", { ...loadOptions(), graphPath: "/nowhere/model.onnx" }, /\/nowhere\/model\.onnx/],
  ])("refused at load: %s", async (_, options, message) => {
    const refusal = await openOrtModel(options).catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(ModelError)
    expect((refusal as Error).message).toMatch(message)
  })

  test("refused at load: a file that is no graph", async () => {
    const options = loadOptions()
    writeFileSync(options.graphPath, "not a graph")
    await expect(openOrtModel(options)).rejects.toThrow(options.graphPath)
  })
})
