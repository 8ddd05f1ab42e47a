import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { RequestError } from "../../runtime/errors.ts"
import { StopStrings, StopWatch } from "../../runtime/stops.ts"

function run(strings: string[], chunks: string[], options: ConstructorParameters<typeof StopWatch>[1] = {}) {
  const watch = new StopWatch(new StopStrings(strings), options)
  const texts: string[] = []
  for (const chunk of chunks) {
    const { text, stop } = watch.push(chunk)
    texts.push(text)
    if (stop !== null) return { texts, stop, ignored: watch.ignored }
  }
  texts.push(watch.flush())
  return { texts, stop: null, ignored: watch.ignored }
}

describe("S1-25, S2-17: stop strings", () => {
  test.each([
    [
      "hold back, then stop",
      ["\n\n", "Human:"],
      ["Hi", "\n", "Hum", "an", ": x"],
      ["Hi", "", "\n", "", ""],
      "Human:",
    ],
    ["earliest end wins over an earlier begin", ["abcd", "bc"], ["abcd"], ["a"], "bc"],
    ["inside a token", ["gani"], [" organization"], [" or"], "gani"],
    ["held text is flushed at the end", ["abc"], ["xab"], ["x", "ab"], null],
    ["the longest of several at one end", ["c", "bc"], ["abc"], ["a"], "bc"],
    ["a suffix of a longer one that failed", ["abcx", "bcy"], ["abcy"], ["a"], "bcy"],
  ])("%s", (_, strings, chunks, texts, stop) => {
    const result = run(strings, chunks)
    expect(result.texts).toEqual(texts)
    expect(result.stop).toBe(stop)
  })

  test("included: the text ends with the stop string", () => {
    expect(run(["gani"], [" organization"], { includesStop: true }).texts).toEqual([" organi"])
  })

  test("one that does not count is text, is reported, and hides no later one", () => {
    const counts = (length: number) => length >= 4
    const result = run(["x"], ["ax", "bcx", "d"], { counts })
    expect(result).toEqual({ texts: ["ax", "bc"], stop: "x", ignored: ["x"] })
  })

  test("refused: empty, half a pair, more than 64", () => {
    expect(() => new StopStrings(["a", ""])).toThrow("stop[1] is empty")
    expect(() => new StopStrings(["\ud83d"])).toThrow(RequestError)
    expect(() => new StopStrings(Array.from({ length: 65 }, (_, i) => `s${i}`))).toThrow(/65 strings/)
  })

  test("any cut into chunks gives the text up to the earliest end", () => {
    const letters = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 24 })
    const stops = fc.array(fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1, maxLength: 4 }), {
      minLength: 1,
      maxLength: 4,
    })
    fc.assert(
      fc.property(stops, fc.array(letters, { maxLength: 6 }), (strings, chunks) => {
        const whole = chunks.join("")
        let best = { end: Number.POSITIVE_INFINITY, start: whole.length, stop: null as string | null }
        for (const stop of strings) {
          const start = whole.indexOf(stop)
          const end = start + stop.length
          if (start >= 0 && (end < best.end || (end === best.end && start < best.start)))
            best = { end, start, stop }
        }
        const result = run(strings, chunks)
        expect(result.texts.join("")).toBe(whole.slice(0, best.start))
        expect(result.stop).toBe(best.stop)
      }),
      { numRuns: 2000, seed: 7 },
    )
  })

  test("exactly the part that could still become a stop string is held back", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.constantFrom("a", "b"), minLength: 1, maxLength: 5 }), {
          minLength: 1,
          maxLength: 3,
        }),
        fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 12 }),
        (strings, text) => {
          fc.pre(!strings.some((stop) => text.includes(stop)))
          let held = 0
          for (const stop of strings) {
            for (let length = 1; length < stop.length; length++) {
              if (text.endsWith(stop.slice(0, length))) held = Math.max(held, length)
            }
          }
          expect(run(strings, [text]).texts[0].length).toBe(text.length - held)
        },
      ),
      { numRuns: 1000, seed: 8 },
    )
  })
})
