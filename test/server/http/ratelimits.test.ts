import fc from "fast-check"
import { expect, test } from "vitest"
import type { Refusal } from "../../../server/errors.ts"
import { duration, RateLimits, type RateOptions } from "../../../server/http/ratelimits.ts"

/** Limits with a clock that stands still until it is moved. */
function limitsOf(options: RateOptions) {
  const clock = { ms: 5_000 }
  const limits = new RateLimits(options, () => clock.ms)
  const refused = (key: number): Refusal => {
    try {
      limits.admit(key)
    } catch (error) {
      return error as Refusal
    }
    throw new Error("it was let in")
  }
  return { clock, limits, refused }
}

test("so many requests a minute, each key for itself; the time to wait is the time until one more", () => {
  const { clock, limits, refused } = limitsOf({ requests: 3 })
  for (let i = 0; i < 3; i++) limits.admit(0)
  const { code, message, details } = refused(0)
  expect(code).toBe("rate_limit_exceeded")
  expect(message).toBe(
    "the bound of 3 requests a minute is reached. Try again in 20 s, or start the server with a higher --rate-requests",
  )
  expect(details.headers).toEqual({
    ...{ "retry-after": "20", "retry-after-ms": "20000" },
    ...{ "x-ratelimit-limit-requests": "3", "x-ratelimit-remaining-requests": "0" },
    "x-ratelimit-reset-requests": "1m0s",
  })
  limits.admit(1)
  clock.ms += 19_999
  expect(refused(0).details.headers).toMatchObject({ "retry-after": "1", "retry-after-ms": "1" })
  clock.ms += 1
  limits.admit(0)
  refused(0)
})

test("tokens count as they come: an answer under way is counted at the next request, and never cut", () => {
  const { clock, limits, refused } = limitsOf({ tokens: 600 })
  const admission = limits.admit(0)
  let tokens = 100
  admission.spends(() => tokens)
  expect(admission.headers).toEqual({
    ...{ "x-ratelimit-limit-tokens": "600", "x-ratelimit-remaining-tokens": "500" },
    "x-ratelimit-reset-tokens": "10s",
  })
  limits.admit(0).settle()
  tokens = 900
  // 300 below empty, and one more: 301 at ten a second.
  expect(refused(0).details.headers).toMatchObject({
    ...{ "retry-after": "31", "retry-after-ms": "30100", "x-ratelimit-remaining-tokens": "0" },
    "x-ratelimit-reset-tokens": "1m30s",
  })
  admission.settle()
  tokens = 10_000
  clock.ms += 30_000
  refused(0)
  clock.ms += 200
  limits.admit(0)
})

test("what the server could not take does not count", () => {
  const { limits, refused } = limitsOf({ requests: 1 })
  limits.admit(0).takeBack()
  limits.admit(0).takeBack()
  limits.admit(0)
  refused(0)
})

test("without bounds there are no headers and no refusals", () => {
  const { limits } = limitsOf({})
  for (let i = 0; i < 1_000; i++) expect(limits.admit(-1).headers).toEqual({})
})

test("a bound below one is an error", () => {
  for (const options of [{ requests: 0 }, { tokens: -1 }, { tokens: Number.NaN }])
    expect(() => new RateLimits(options)).toThrow(RangeError)
})

test("over any time a key gets at most a bucket and what has flown in since, and the last of them its own overrun", () => {
  const event = fc.record({ waitMs: fc.nat(20_000), tokens: fc.nat(400) })
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), (events) => {
      const { clock, limits } = limitsOf({ requests: 5, tokens: 1_000 })
      const begin = clock.ms
      const letIn = { requests: 0, tokens: 0 }
      for (const { waitMs, tokens } of events) {
        clock.ms += waitMs
        let admission: ReturnType<typeof limits.admit>
        try {
          admission = limits.admit(0)
        } catch (error) {
          const waited = Number((error as Refusal).details.headers?.["retry-after-ms"])
          // Who waits as long as told is let in.
          clock.ms += waited
          admission = limits.admit(0)
        }
        const minutes = (clock.ms - begin) / 60_000
        expect(letIn.requests).toBeLessThan(5 + 5 * minutes + 1e-6)
        expect(letIn.tokens).toBeLessThan(1_000 + 1_000 * minutes + 1e-6)
        letIn.requests++
        letIn.tokens += tokens
        admission.spends(() => tokens)
        admission.settle()
      }
    }),
    { seed: 7, numRuns: 200 },
  )
})

test.each([
  [0, "0s"],
  [0.2, "1ms"],
  [120, "120ms"],
  [999.5, "1s"],
  [1_000, "1s"],
  [59_001, "1m0s"],
  [90_000, "1m30s"],
  [7_205_000, "2h0m5s"],
])("%d ms are %s", (ms, text) => {
  expect(duration(ms)).toBe(text)
})
