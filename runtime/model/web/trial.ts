/**
 * The trial of a graph on a device before it is used: drivers and kernels differ between devices,
 * and wrong ones do not report errors.
 *
 * Prompts of several lengths are read whole and in pieces, and rows run alone and with others. If
 * the logits differ by more than rounding, or if a run copies anything to the host, the device is
 * refused for this graph.
 */

import { ModelError } from "../../errors.ts"
import { distance } from "../ort/layout.ts"
import type { WebSession } from "./session.ts"
import type { TrafficCounter } from "./traffic.ts"

/** Lengths of the prompts: kernels change at multiples of a tile, which has 32 rows. */
const lengths = [5, 31, 32, 33, 100]
const pieceLength = 16
const mostRows = 8

/**
 * Logits that differ by more than this share of the largest are not explained by rounding. Wrong
 * kernels were off by more than half: attention with subgroups of width 4, and products of 4-bit
 * weights in memory that was not cleared (SwiftShader).
 */
const tolerance = 0.05

/** Runs the trial. Throws ModelError with the reason for a refusal. */
export async function tryWebSession(
  session: WebSession,
  traffic: TrafficCounter,
  { slotCount, contextLength }: { slotCount: number; contextLength: number },
): Promise<void> {
  const { width } = session.signature
  const token = (at: number): number => (7 * at + 3) % width
  const run = async (...feeds: [slot: number, start: number, end: number][]): Promise<Float32Array[]> => {
    const { maps } = traffic.sums.model
    const logits = await session.forward(
      feeds.map(([slot, start, end]) => ({
        ...{ slot, start, logitsCount: 1 },
        tokens: Array.from({ length: end - start }, (_, at) => token(start + at)),
      })),
    )
    if (traffic.sums.model.maps !== maps)
      throw refusal("a run of the graph copies data to the host, as some of its nodes run on the processor")
    const all = await session.memory.readLogits(logits)
    logits.buffer.destroy()
    const rows = feeds.map((_, row) => all.subarray(row * width, (row + 1) * width))
    for (const row of rows) if (!isPlausible(row)) throw refusal("its logits are all zero, or not numbers")
    return rows
  }
  const compare = (one: Float32Array, other: Float32Array, what: string): void => {
    const off = distance(one, other)
    if (!(off <= tolerance))
      throw refusal(`the logits of ${what} differ by ${off.toPrecision(2)} of the largest`)
  }
  for (const length of lengths.filter((each) => each < contextLength)) {
    const [whole] = await run([0, 0, length])
    let pieces = whole
    for (let start = 0; start < length; start += pieceLength)
      [pieces] = await run([0, start, Math.min(length, start + pieceLength)])
    compare(whole, pieces, `a prompt of ${length} tokens, whole and in pieces of ${pieceLength},`)
  }
  const alone: Float32Array[] = []
  const steps: [slot: number, start: number, end: number][] = []
  for (let slot = 0; slot < Math.min(mostRows, slotCount); slot++) {
    const length = Math.min(3 + 5 * slot, contextLength - 1)
    await run([slot, 0, length])
    steps.push([slot, length, length + 1])
    alone.push((await run([slot, length, length + 1]))[0])
    const together = await run(...steps)
    for (const [row, logits] of together.entries())
      compare(alone[row], logits, `a row, alone and in a batch of ${steps.length},`)
  }
  Object.assign(session.work, { runs: 0, places: 0, placesInVain: 0 })
}

/** A device that fails gives zeros. */
export function isPlausible(row: Float32Array): boolean {
  return row.every(Number.isFinite) && row.some((value) => value !== 0)
}

function refusal(why: string): ModelError {
  return new ModelError(
    `the model runtime web does not run this graph right on this device: ${why}. Choose the model runtime node`,
  )
}
