/**
 * How much each key may ask for in a minute: requests, and tokens of prompts and answers together.
 *
 * Each bound is a bucket that holds what a minute allows and fills evenly, so that no request waits
 * for a full minute to begin. A request is admitted while the buckets of its key hold one unit. How
 * many tokens it will take is unknown then, so they are taken as they come: those of the prompt
 * when it has been read, those of the answer while they are drawn. A bucket may become negative in
 * this way, and the next request waits until it has recovered: over time a key gets what its bound
 * says.
 *
 * Reserving prompt and max_tokens at the beginning instead would refuse most clients, which leave
 * max_tokens out and would reserve the rest of the context; taking everything at the end would
 * admit any number at once. An admitted request is never cut. The reservation would also need the
 * prompt's tokens, which cost more to count than a refusal should.
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

  /** `now` in milliseconds. Throws RangeError on a bound below one. */
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

  /** No more tokens will come. */
  settle(): void {
    this.buckets.tokens?.levelAt(this.now())
    this.buckets.tokens?.open.delete(this.spent)
  }

  /** Takes the request back: the server itself could not serve it. */
  takeBack(): void {
    this.buckets.requests?.take(-1, this.now())
  }

  /** `x-ratelimit-*`, as things stand. */
  get headers(): Record<string, string> {
    return rateHeaders(this.buckets, this.now())
  }
}

/** Tokens of a request under way, and how many of them its bucket has given. */
interface Spent {
  taken: number
  count: () => number
}

class Bucket {
  readonly size: number
  /** What requests under way take from it. */
  readonly open = new Set<Spent>()
  private level: number
  private at: number

  constructor(size: number, at: number) {
    this.size = size
    this.level = size
    this.at = at
  }

  /** Negative if more was taken than the bucket held. */
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

  /** Milliseconds until it holds one unit. */
  waitMs(now: number): number {
    // Sums of fractions are inexact: after the waiting time there must be one unit.
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

/** As OpenAI writes the time until a bucket is full: `0s`, `120ms`, `7s`, `1m30s`, `2h0m5s`. */
export function duration(ms: number): string {
  if (ms > 0 && Math.ceil(ms) < 1000) return `${Math.ceil(ms)}ms`
  const seconds = Math.ceil(ms / 1000)
  const minutes = Math.floor(seconds / 60)
  const hours = Math.floor(minutes / 60)
  const [s, m] = [`${seconds % 60}s`, `${minutes % 60}m`]
  return hours > 0 ? `${hours}h${m}${s}` : minutes > 0 ? `${m}${s}` : s
}
