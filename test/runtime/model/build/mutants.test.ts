/**
 * GGUF files a few changes away from right ones: each is converted, or ends in a ModelError of one
 * line that names the file. MUTANTS_SEED and MUTANTS_COUNT run others, and more of them.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, test } from "vitest"
import { ModelError } from "../../../../runtime/errors.ts"
import { convert } from "../../../../runtime/model/build/convert.ts"
import { ggufSource } from "../../../../runtime/model/hub/source.ts"
import { openGguf } from "../../../../runtime/model/weights/gguf.ts"
import type { PlacedTensor } from "../../../../runtime/model/weights/storage.ts"
import { expectedAnswers, ggufPath } from "../../../support/builtmodels.ts"
import { generator } from "../../../support/onnx.ts"

const seed = Number(process.env.MUTANTS_SEED ?? 1)
const count = Number(process.env.MUTANTS_COUNT ?? 400)

const random = generator(seed)
const below = (bound: number): number => Math.floor(random() * bound)
const pick = <T>(values: readonly T[]): T => values[below(values.length)]
const home = mkdtempSync(join(tmpdir(), "mutants-"))
afterAll(() => rmSync(home, { recursive: true }))

const floats = [Number.NaN, Number.POSITIVE_INFINITY, 0, -1, 1e-40, 1e-5, 1, 1e38, -1e38, 1e5]
const integers = [
  0,
  1,
  2,
  7,
  8,
  16,
  33,
  64,
  255,
  256,
  1_024,
  65_536,
  2 ** 20,
  2 ** 20 + 1,
  2 ** 31,
  2 ** 32 - 1,
]

/** Where a change may tell: behind each key of the model's own, and the begin of each tensor. */
async function placesIn(path: string, bytes: Buffer): Promise<number[]> {
  const gguf = await openGguf(path)
  gguf.close()
  const starts = [...gguf.tensors.values()].map((tensor) => (tensor as PlacedTensor).offset)
  const ends = [...gguf.metadata.keys()].map((key) => bytes.indexOf(key) + key.length)
  // Behind a key stands the type of its value, of four bytes.
  return [...ends.flatMap((end) => [end, end + 4, end + 4, end + 4]), ...starts]
}

/** Bytes that all files of a model directory take. */
function bytesIn(folder: string): number {
  const paths = readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name)))
  return paths.reduce((sum, path) => sum + statSync(path).size, 0)
}

test.each(Object.keys(expectedAnswers))("%s: mutants are converted, or refused in a line", async (name) => {
  const right = readFileSync(ggufPath(name))
  const places = await placesIn(ggufPath(name), right)
  const path = join(home, "x.gguf")
  const folder = join(home, "built")
  const task = { dtype: "q8", provider: "cpu", disk: { folder: home, way: "" }, folder } as const
  const outcomes = new Set<string>()
  for (let i = 0; i < count / Object.keys(expectedAnswers).length; i++) {
    const bytes = Buffer.from(right)
    const at = random() < 0.8 ? pick(places) + 4 * below(2) : below(bytes.length - 4)
    const change = pick([
      () => bytes.writeUInt8(below(256), at),
      () => bytes.writeFloatLE(pick(floats), at),
      () => bytes.writeUInt32LE(pick(integers), at),
    ])
    change()
    writeFileSync(path, bytes)
    const what = `${name}, byte ${at}: ${bytes.subarray(at, at + 4).toString("hex")}`
    try {
      await convert({ ...task, source: ggufSource(path) }, () => {})
      outcomes.add("converted")
      expect(bytesIn(folder), what).toBeLessThan(2 ** 28)
    } catch (error) {
      outcomes.add("refused")
      expect(error, `${what}: ${(error as Error).stack}`).toBeInstanceOf(ModelError)
      expect((error as Error).message, what).toContain(path)
      expect((error as Error).message, what).not.toMatch(/\n|internal|undefined/)
    }
    if (existsSync(folder)) rmSync(folder, { recursive: true })
  }
  expect([...outcomes].sort()).toEqual(["converted", "refused"])
})
