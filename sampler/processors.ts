/**
 * Stage 11: the caller's functions that change logits.
 *
 * A processor works on copies, so that nothing it writes can allow a token, or reach another row:
 * of its values only those of tokens that may still be drawn are read back, and of its mask only
 * bits that it cleared. Whatever would leave no clear result is an error of the row: a promise,
 * NaN, or no token at all. Costs O(V + tokens) for each processor.
 */
import { SamplingError } from "./ranges.ts"
import type { LogitsProcessor, ProcessorRow, SampleRow } from "./row.ts"
import { type Candidates, countAlive } from "./truncation.ts"

/**
 * Runs the processors of a row in their order. Returns the number of tokens that may still be
 * drawn. Throws SamplingError, and what a processor throws.
 */
export function runProcessors(candidates: Candidates, row: SampleRow, clamp: (x: number) => number): number {
  let count = countAlive(candidates)
  if (count === 0 || row.processors === undefined) return count
  for (const [index, processor] of row.processors.entries()) {
    const name = `processors[${index}]`
    const before = count
    run(processor, candidates, row, { name, clamp })
    count = countAlive(candidates)
    if (count > 0) continue
    const what = `it forbids all ${before} tokens that were allowed at position ${row.position}`
    throw new SamplingError(name, -Infinity, `${what}. Leave at least one of them`)
  }
  return count
}

function run(
  processor: LogitsProcessor,
  { values, alive }: Candidates,
  { position, choice, tokens }: SampleRow,
  { name, clamp }: { name: string; clamp: (x: number) => number },
): void {
  const copy = values.map((value, id) => (alive[id] ? value : -Infinity))
  const mask = maskOf(alive)
  const history = Int32Array.from(tokens.history())
  const row: ProcessorRow = { position, choice, tokens: history, promptCount: tokens.promptCount, mask }
  const said: unknown = processor(copy, row)
  if (typeof said === "object" && said !== null && "then" in said) {
    // Nobody waits for the promise; if it is rejected, that must not end the process.
    void Promise.resolve(said).catch(() => {})
    const what = "it returned a promise, and tokens are drawn at once. Return nothing"
    throw new SamplingError(name, said, what)
  }
  for (let id = 0; id < copy.length; id++) {
    if (!alive[id]) continue
    if (Number.isNaN(copy[id])) {
      const what = `it wrote NaN for token ${id} at position ${position}`
      throw new SamplingError(name, Number.NaN, `${what}. Write a number, or -Infinity to forbid the token`)
    }
    if (copy[id] === -Infinity || (mask[id >>> 5] & (1 << (id & 31))) === 0) alive[id] = 0
    else values[id] = clamp(copy[id])
  }
}

/** Returns the tokens that may be drawn as a bit row, shape [W]. */
function maskOf(alive: Uint8Array): Uint32Array {
  const mask = new Uint32Array(Math.ceil(alive.length / 32))
  for (let id = 0; id < alive.length; id++) if (alive[id]) mask[id >>> 5] |= 1 << (id & 31)
  return mask
}
