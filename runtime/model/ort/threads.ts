/**
 * Finds by trials the number of threads that runs a graph fastest on this machine under its current
 * load.
 *
 * The threads of onnxruntime wait for each other in every operator, and spin while they wait. A
 * small graph gains little by a second thread, and on a busy machine it loses: a thread without a
 * core keeps all the others waiting (embedded model on two cores that other programs used too: 340
 * tokens a second with two threads, 759 with one). So more threads are only used if they prove
 * faster.
 */

/**
 * Number of steps that are timed in a row, and number of times that each number of threads is
 * timed.
 */
const Steps = 6
const Turns = 3
/** More threads must take at most this share of the time that fewer take. */
const Gain = 0.9
/**
 * If a step takes this many times as long as after the last trial, or as short, the load of the
 * machine has changed.
 */
const Change = 1.6
/** Number of steps of an average, and the minimum milliseconds between two trials. */
const MeanSteps = 200
const RestMs = 60_000

/** A way to run the graph, ready to be timed. */
export interface Candidate {
  readonly threads: number
  /** Runs one step. Returns its milliseconds. */
  step(): Promise<number>
}

/**
 * Returns the numbers of threads to try on so many cores, ascending. One core stays free for masks,
 * compilations and connections: when the model's threads spun on all of them, ten compilations that
 * take 6 s took 22 s (two cores, embedded model, four concurrent streams).
 */
export function threadCounts(cores: number): number[] {
  const most = Math.max(1, cores - 1)
  const counts: number[] = []
  for (let count = 1; count < most; count *= 2) counts.push(count)
  return [...counts, most]
}

/**
 * Returns the fastest of `counts`, which ascend. If more threads are not faster, still more are not
 * tried. `open` creates a candidate, `close` gets those that were not chosen.
 */
export async function fastest<Of extends Candidate>(
  counts: readonly number[],
  open: (threads: number) => Promise<Of>,
  close: (candidate: Of) => Promise<void>,
): Promise<Of> {
  let best = await open(counts[0])
  for (const count of counts.slice(1)) {
    const next = await open(count)
    const times = [best, next].map((candidate) => ({ candidate, ms: [] as number[] }))
    // The candidates are timed in turns, so that other load of the machine affects all of them.
    for (let turn = 0; turn < Turns; turn++)
      for (const { candidate, ms } of times)
        for (let step = 0; step < Steps; step++) ms.push(await candidate.step())
    const [fewer, more] = times.map(({ ms }) => middle(ms))
    const isBetter = more <= Gain * fewer
    await close(isBetter ? best : next)
    if (!isBetter) break
    best = next
  }
  return best
}

/**
 * Notices that steps take longer or shorter than before: another trial may then find another number
 * of threads.
 */
export class StepWatch {
  /** By number of rows: the average after the last trial, and the current sum. */
  private readonly known = new Map<number, number>()
  private readonly sums = new Map<number, { count: number; ms: number }>()
  private restsUntil: number

  constructor(now: number) {
    this.restsUntil = now + RestMs
  }

  /** Records a step of decoding. Returns true if the load has changed, and then starts again. */
  note(rows: number, ms: number, now: number): boolean {
    const sum = this.sums.get(rows) ?? { count: 0, ms: 0 }
    this.sums.set(rows, sum)
    sum.count++
    sum.ms += ms
    if (sum.count < MeanSteps) return false
    const mean = sum.ms / sum.count
    this.sums.delete(rows)
    const before = this.known.get(rows)
    if (before === undefined) this.known.set(rows, mean)
    if (before === undefined || now < this.restsUntil) return false
    if (mean < Change * before && mean > before / Change) return false
    this.known.clear()
    this.sums.clear()
    this.restsUntil = now + RestMs
    return true
  }
}

function middle(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1]
}
