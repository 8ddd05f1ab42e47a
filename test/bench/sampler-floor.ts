/**
 * The least that a step can cost: one read of its logits at the rate at which the machine reads memory, and of its masks.
 * Times below it were not measured; times far above it are the sampler's.
 */

/** Microseconds to read rows of logits once. `bytesPerSecond` of the memory; `logitBytes` 4 or, in half precision, 2. */
export function floorUs(
  width: number,
  rowCount: number,
  bytesPerSecond: number,
  { logitBytes = 4, isMasked = false } = {},
): number {
  const rowBytes = logitBytes * width + (isMasked ? 4 * Math.ceil(width / 32) : 0)
  return (1e6 * rowBytes * rowCount) / bytesPerSecond
}

/** Bytes a second that one thread reads, over a buffer that no cache holds; the best of several runs. */
export function measureReadRate(now: () => number): number {
  const words = new Float64Array(2 ** 24).fill(1)
  let best = 0
  let sum = 0
  for (let run = 0; run < 6; run++) {
    const start = now()
    // Four sums: one alone would wait for its own additions.
    let [a, b, c, d] = [0, 0, 0, 0]
    for (let at = 0; at < words.length; at += 4) {
      a += words[at]
      b += words[at + 1]
      c += words[at + 2]
      d += words[at + 3]
    }
    best = Math.max(best, (1000 * words.byteLength) / (now() - start))
    sum += a + b + c + d
  }
  if (sum !== 6 * words.length) throw new Error("internal: the reads were not made")
  return best
}
