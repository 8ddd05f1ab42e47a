import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { RequestError } from "../../../runtime/errors.ts"
import { StopStrings, StopWatch } from "../../../runtime/stops/stops.ts"

function run(strings: string[], chunks: string[], options: ConstructorParameters<typeof StopWatch>[1] = {}) {
  const ignored: string[] = []
  const counts = (length: number, stop: string): boolean => {
    const isEnd = options.counts?.(length, stop) ?? true
    if (!isEnd && !ignored.includes(stop)) ignored.push(stop)
    return isEnd
  }
  const watch = new StopWatch(new StopStrings(strings), { ...options, counts })
  const texts: string[] = []
  for (const chunk of chunks) {
    const { text, stop } = watch.push(chunk)
    texts.push(text)
    if (stop !== null) return { texts, stop, ignored }
  }
  texts.push(watch.flush())
  return { texts, stop: null, ignored }
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

  test("one that does not count is text, is asked about, and hides no later one", () => {
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

  test("every answer is that of a search in all prefixes of all strings", () => {
    /** The definition: the longest suffix of what was read that begins a stop string, found by trying. */
    const naive = (
      strings: string[],
      chunks: string[],
      includesStop: boolean,
      counts: (length: number) => boolean,
    ) => {
      const prefixes = new Set(["", ...strings.flatMap((s) => [...s].map((_, i) => s.slice(0, i + 1)))])
      const suffix = (text: string): string => (prefixes.has(text) ? text : suffix(text.slice(1)))
      const whole = chunks.join("")
      const texts: string[] = []
      const ignored: string[] = []
      let [node, read, sent] = ["", 0, 0]
      const send = (end: number) => {
        texts.push(whole.slice(sent, end))
        sent = end
      }
      for (const chunk of chunks) {
        for (const unit of chunk) {
          node = suffix(node + unit)
          read++
          const ends = strings.filter((stop) => node.endsWith(stop)).sort((a, b) => b.length - a.length)
          for (const stop of ends) {
            const cut = includesStop ? read : read - stop.length
            if (counts(cut)) {
              send(cut)
              return { texts, stop, ignored }
            }
            if (!ignored.includes(stop)) ignored.push(stop)
          }
          const isProlonged = [...prefixes].some((each) => each.length > node.length && each.startsWith(node))
          if (!isProlonged) node = suffix(node.slice(1))
        }
        send(read - node.length)
      }
      send(read)
      return { texts, stop: null, ignored }
    }
    const letters = (min: number, max: number) =>
      fc.string({ unit: fc.constantFrom("a", "b"), minLength: min, maxLength: max })
    fc.assert(
      fc.property(
        fc.array(letters(1, 5), { maxLength: 5 }),
        fc.array(letters(0, 7), { maxLength: 7 }),
        fc.boolean(),
        fc.integer({ min: 1, max: 4 }),
        (strings, chunks, includesStop, every) => {
          const counts = (length: number) => length % every === 0
          expect(run(strings, chunks, { includesStop, counts })).toEqual(
            naive(strings, chunks, includesStop, counts),
          )
        },
      ),
      { numRuns: 3000, seed: 9 },
    )
  })

  test("more than 4,096 units are refused, and 16 MB of them", () => {
    expect(() => new StopStrings(["x".repeat(4_096)])).not.toThrow()
    for (const string of ["x".repeat(4_097), "ab".repeat(8 << 20)]) {
      expect(() => new StopStrings(["y", string])).toThrow(/UTF-16 units in all are more than 4096/)
    }
  })

  test("a text that is held to the bound, unit by unit, costs each unit once", () => {
    const stops = new StopStrings([`${"a".repeat(4_095)}b`])
    const watch = new StopWatch(stops)
    let sentCount = 0
    for (let unit = 0; unit < 300_000; unit++) sentCount += watch.push("a").text.length
    expect(sentCount).toBe(300_000 - 4_095)
    expect(watch.flush()).toBe("a".repeat(4_095))
  })
})
