/**
 * Rate limits: how much each key may ask for in a minute, in requests, and in tokens of prompts and
 * answers together.
 *
 * Each bound is a bucket that holds the amount for one minute and fills evenly, so that no request
 * waits for the next full minute. A request is admitted if each bucket of its key holds at least
 * one unit. It is not known then how many tokens the request will take, so they are taken later:
 * those of the prompt when it has been read, those of the answer while they are drawn. A bucket may
 * become negative in this way, and then the next request waits until it has recovered. Over time, a
 * key gets the amount of its bound.
 *
 * Two alternatives are worse. Reserving prompt and max_tokens at the beginning would refuse most
 * clients, because they leave max_tokens out and would reserve the rest of the context; it would
 * also need the prompt's tokens, which cost more to count than a refusal should. Taking everything
 * at the end would admit any number of requests at once. An admitted request is never cut.
 */
import { Refusal } from "../errors.ts"

/** Bounds of one key in a minute. A missing field means no bound. */
export interface RateOptions {
  requests?: number | undefined
  tokens?: number | undefined
}

const units = ["requests", "tokens"] as const
type Unit = (typeof units)[number]
type Buckets = Partial<Record<Unit, Bucket>>

const minuteMs = 60_000

export class RateLimits {
  private readonly options: RateOptions
  private readonly now: () => number
  /** Buckets by key; as many as the server has keys. */
  private readonly keys = new Map<number, Buckets>()

  /** `now` returns milliseconds. Throws RangeError on a bound below one. */
  constructor(options: RateOptions, now: () => number = () => performance.now()) {
    for (const unit of units) {
      const most = options[unit]
      if (most !== undefined && !(most >= 1)) throw new RangeError(`${unit} a minute: ${most} is below 1`)
    }
    this.options = options
    this.now = now
  }

  /**
   * Admits a request with this key; −1 if the server has no keys. Throws `Refusal` (429) if one of
   * its bounds is reached.
   */
  admit(key: number): Admission {
    const buckets = this.bucketsOf(key)
    const now = this.now()
    const waits = units.map((unit) => buckets[unit]?.waitMs(now) ?? 0)
    const waitMs = Math.max(...waits)
    if (waitMs > 0) throw this.refusal(units[waits.indexOf(waitMs)], waitMs, rateHeaders(buckets, now))
    return new Admission(buckets, this.now)
  }

  private bucketsOf(key: number): Buckets {
    const known = this.keys.get(key)
    if (known) return known
    const buckets: Buckets = {}
    for (const unit of units) {
      const most = this.options[unit]
      if (most !== undefined) buckets[unit] = new Bucket(most, this.now())
    }
    this.keys.set(key, buckets)
    return buckets
  }

  private refusal(unit: Unit, waitMs: number, headers: Record<string, string>): Refusal {
    const seconds = Math.ceil(waitMs / 1000)
    const message = `the bound of ${this.options[unit]} ${unit} a minute is reached`
    return new Refusal("rate_limit_exceeded", message, {
      hint: `Try again in ${seconds} s, or start the server with a higher --rate-${unit}`,
      headers: { ...headers, "retry-after": String(seconds), "retry-after-ms": String(Math.ceil(waitMs)) },
    })
  }
}

/** An admitted request. */
export class Admission {
  private readonly buckets: Buckets
  private readonly now: () => number
  private readonly spent: Spent = { taken: 0, count: () => 0 }

  constructor(buckets: Buckets, now: () => number) {
    this.buckets = buckets
    this.now = now
    buckets.requests?.take(1, now())
    buckets.tokens?.open.add(this.spent)
  }

  /** Sets the function that counts the request's tokens. Its result must not decrease. */
  spends(count: () => number): void {
    this.spent.count = count
  }

  /** Ends the count: no more tokens will be drawn. */
  settle(): void {
    this.buckets.tokens?.levelAt(this.now())
    this.buckets.tokens?.open.delete(this.spent)
  }

  /**
   * Returns the request and its tokens to the buckets, because the server itself could not serve
   * it.
   */
  takeBack(): void {
    this.buckets.requests?.take(-1, this.now())
  }

  /** The current `x-ratelimit-*` headers. */
  get headers(): Record<string, string> {
    return rateHeaders(this.buckets, this.now())
  }
}

/** Tokens of a running request, and how many of them were taken from its bucket. */
interface Spent {
  taken: number
  count: () => number
}

class Bucket {
  readonly size: number
  /** Tokens of running requests that draw from this bucket. */
  readonly open = new Set<Spent>()
  private level: number
  private at: number

  constructor(size: number, at: number) {
    this.size = size
    this.level = size
    this.at = at
  }

  /** Returns the level, which is negative if more was taken than the bucket held. */
  levelAt(now: number): number {
    this.level = Math.min(this.size, this.level + ((now - this.at) * this.size) / minuteMs)
    this.at = now
    for (const spent of this.open) {
      const count = spent.count()
      this.level -= count - spent.taken
      spent.taken = count
    }
    return this.level
  }

  take(count: number, now: number): void {
    this.level = Math.min(this.size, this.levelAt(now) - count)
  }

  /** Returns the milliseconds until the bucket holds one unit. */
  waitMs(now: number): number {
    // Sums of fractions are inexact, but after the waiting time there must be one unit.
    return this.levelAt(now) > 1 - 1e-6 ? 0 : this.msUntil(1, now)
  }

  msUntil(level: number, now: number): number {
    return Math.max(0, ((level - this.levelAt(now)) * minuteMs) / this.size)
  }
}

function rateHeaders(buckets: Buckets, now: number): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const unit of units) {
    const bucket = buckets[unit]
    if (!bucket) continue
    headers[`x-ratelimit-limit-${unit}`] = String(bucket.size)
    headers[`x-ratelimit-remaining-${unit}`] = String(Math.max(0, Math.floor(bucket.levelAt(now))))
    headers[`x-ratelimit-reset-${unit}`] = duration(bucket.msUntil(bucket.size, now))
  }
  return headers
}

/** Returns a duration in OpenAI's format: `0s`, `120ms`, `7s`, `1m30s`, `2h0m5s`. */
export function duration(ms: number): string {
  if (ms > 0 && Math.ceil(ms) < 1000) return `${Math.ceil(ms)}ms`
  const seconds = Math.ceil(ms / 1000)
  const minutes = Math.floor(seconds / 60)
  const hours = Math.floor(minutes / 60)
  const [s, m] = [`${seconds % 60}s`, `${minutes % 60}m`]
  return hours > 0 ? `${hours}h${m}${s}` : minutes > 0 ? `${m}${s}` : s
}
