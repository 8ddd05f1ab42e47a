import { expect, test } from "vitest"
import { UsageError } from "../../../server/cli/exit.ts"
import {
  decimalNumber,
  type ModelFlags,
  modelFlags,
  openModel,
  wholeNumber,
} from "../../../server/cli/model.ts"
import { flagsOf, ioOf } from "../../support/io.ts"

const io = ioOf()
const read = (...args: string[]) => flagsOf<ModelFlags>(modelFlags, args)

test("flags are numbers and names", () => {
  expect(read("--slots", "3", "--threads", "1", "--device", "cpu", "--draft", "ngram")).toEqual({
    ...{ slots: 3, threads: 1, device: "cpu", draft: "ngram" },
  })
  expect(() => read("--device", "tpu")).toThrow(/Allowed choices are auto, gpu, cpu/)
})

test.each(["-1", "1.5", "", "1e3", "x"])("%j is no whole number", (text) => {
  expect(() => wholeNumber(text)).toThrow(/must be a whole number/)
})

test("numbers", () => {
  expect([wholeNumber("012"), decimalNumber("-0.5"), decimalNumber("1e-3")]).toEqual([12, -0.5, 0.001])
  for (const text of ["", " ", "x", "Infinity"]) expect(() => decimalNumber(text)).toThrow(/must be a number/)
})

test.each<[args: string[], message: RegExp]>([
  [["--draft-tokens", "4"], /--draft-tokens needs --draft/],
  [["--draft", "ngram", "--draft-tokens", "0"], /--draft-tokens 0 is not from 1 to 16/],
  [["--draft", "ngram", "--draft-tokens", "17"], /--draft-tokens 17 is not from 1 to 16/],
])("misuse: %j", async (args, message) => {
  await expect(openModel(read(...args), io)).rejects.toThrow(message)
  await expect(openModel(read(...args), io)).rejects.toThrow(UsageError)
})

test("the embedded model opens where no other is named", async () => {
  const engine = await openModel(read("--device", "cpu", "--slots", "1"), io)
  await engine.close()
  await expect(openModel(read("--model", "nowhere"), io)).rejects.toThrow(/nowhere: not a directory/)
})
