/** What the model runtime web refuses before a device is opened, so that no GPU is needed here. */

import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { ModelError } from "../../../../runtime/errors.ts"
import { missingWeb } from "../../../../runtime/model/web/installed.ts"
import { isPlausible } from "../../../../runtime/model/web/trial.ts"
import { type OpenOptions, open } from "../../../../runtime/open.ts"
import { type TinyOptions, writeTinyModel } from "../../../support/onnx.ts"

test("a missing package is named with the command that installs it", () => {
  const missing = Object.assign(new Error("Cannot find package"), { code: "MODULE_NOT_FOUND" })
  const refusal = missingWeb(missing)
  expect(refusal).toBeInstanceOf(ModelError)
  expect(refusal.message).toBe(
    "onnxruntime-web is missing. The model runtime web needs it. Install it: npm install onnxruntime-web@1.30.0. Or choose the model runtime node",
  )
  expect(missingWeb(new Error("bad module")).message).toMatch(
    /^onnxruntime-web cannot be loaded: bad module\. /,
  )
})

test.each<[name: string, options: OpenOptions, message: RegExp]>([
  ["the device cpu", { device: "cpu" }, /runtime: web runs on a GPU, and device is cpu/],
  ["a number of threads", { threads: 2 }, /threads: the runtime web has one/],
  ["a draft model", { speculation: { method: "model", model: "/draft" } }, /speculation: .*choose ngram/],
  [
    "a graph without GroupQueryAttention",
    {},
    /model\.onnx: .*GroupQueryAttention.*or the model runtime node/,
  ],
])("refused: %s", async (_, options, message) => {
  const model = writeTinyModel(mkdtempSync(join(tmpdir(), "tiny-")))
  await expect(open({ model, runtime: "web", ...options })).rejects.toThrow(message)
})

test.each<[name: string, options: TinyOptions, message: RegExp]>([
  [
    "weights outside of the folder",
    { dataFiles: ["../x.bin"] },
    /"\.\.\/x\.bin", outside of the model's folder/,
  ],
  ["half logits of an odd width", { isHalf: true }, /of 16 bits and have 261 columns/],
])("refused: %s", async (_, options, message) => {
  const model = writeTinyModel(mkdtempSync(join(tmpdir(), "tiny-")), { isGrouped: true, ...options })
  await expect(open({ model, runtime: "web" })).rejects.toThrow(message)
})

test("refused: weights that are not a regular file", async () => {
  const directory = mkdtempSync(join(tmpdir(), "tiny-"))
  const model = writeTinyModel(directory, { isGrouped: true, dataFiles: ["x.bin"] })
  rmSync(join(directory, "onnx/x.bin"))
  mkdirSync(join(directory, "onnx/x.bin"))
  await expect(open({ model, runtime: "web" })).rejects.toThrow(/x\.bin is missing, or not a regular file/)
})

test("logits of zeros, or that are not numbers, do not pass the trial", () => {
  const rows = [
    [1, 0],
    [0, 0],
    [1, Number.NaN],
    [1, Number.POSITIVE_INFINITY],
  ]
  expect(rows.map((row) => isPlausible(Float32Array.from(row)))).toEqual([true, false, false, false])
})
