import { expect, test } from "vitest"
import { RequestError } from "../../../runtime/errors.ts"
import { checkRepetition, Repetition } from "../../../runtime/stops/repetition.ts"
import { generator } from "../../support/onnx.ts"

test("a tail of c repeats of a pattern of min to max tokens, as a search finds it", () => {
  const random = generator(31)
  let foundCount = 0
  for (let round = 0; round < 3000; round++) {
    const min = 1 + Math.floor(3 * random())
    const options = { min, max: min + Math.floor(3 * random()), count: 2 + Math.floor(3 * random()) }
    const watch = new Repetition(options)
    const tokens: number[] = []
    for (let step = 0; step < 24; step++) {
      tokens.push(Math.floor(2.2 * random()))
      let expected = false
      for (let p = options.min; p <= options.max; p++) {
        const tail = tokens.slice(-p * options.count)
        if (tail.length === p * options.count && tail.every((token, at) => token === tail[at % p]))
          expected = true
      }
      expect(watch.push(tokens[step])).toBe(expected)
      if (expected) foundCount++
    }
  }
  expect(foundCount).toBeGreaterThan(1000)
})

test.each([
  [{ max: 0, count: 2 }, "repetition_detection.max: 0 is not an integer from 1 to 1024"],
  [{ max: 2000, count: 2 }, "repetition_detection.max: 2000"],
  [{ min: 5, max: 4, count: 2 }, "repetition_detection.min: 5 is not an integer from 1 to 4"],
  [{ max: 4, count: 1 }, "repetition_detection.count: 1 is not an integer from 2"],
])("refused: %j", (options, message) => {
  expect(() => checkRepetition(options)).toThrow(RequestError)
  expect(() => checkRepetition(options)).toThrow(message)
})

test("the pattern may have one token", () => {
  expect(checkRepetition({ max: 3, count: 4 })).toEqual({ min: 1, max: 3, count: 4 })
})
