/**
 * Runs slots one at a time: the cache outputs of a step are the inputs of the next, unchanged, or
 * truncated if the slot is rewound.
 *
 * This is the only way if the cache is on a GPU (and cannot be truncated), if no layout of rows is
 * correct, or, unless the caller prefers speed, if quantized activations make rows depend on each
 * other.
 */

import type { Tensor } from "onnxruntime-node"
import type { Feed } from "../model.ts"
import { type CacheArray, type Graph, makeArray, type Outputs } from "./graph.ts"
import type { KeptStates } from "./states.ts"

export class AloneSlots {
  private readonly graph: Graph
  private readonly kept: KeptStates<CacheArray>
  /** Whether the CPU can read the cache. */
  private readonly canRead: boolean
  /** The outputs of each slot's last step, by cache tensor; undefined if the slot is empty. */
  private readonly presents: (readonly Tensor[] | undefined)[]
  private readonly lengths: number[]

  constructor(graph: Graph, options: { slotCount: number; canRead: boolean; kept: KeptStates<CacheArray> }) {
    const { slotCount, canRead, kept } = options
    this.graph = graph
    this.canRead = canRead
    this.kept = kept
    this.presents = Array.from({ length: slotCount }, () => undefined)
    this.lengths = this.presents.map(() => 0)
  }

  /** Runs a feed. */
  async forward({ slot, start, tokens, copyFrom, logitsCount }: Feed): Promise<Outputs> {
    const { caches } = this.graph.signature
    if (copyFrom !== undefined) this.takeOver(copyFrom, slot, start)
    else if (start === 0) this.forget(slot)
    else if (start < this.lengths[slot]) this.takeOver(slot, slot, start)
    if (start !== this.lengths[slot]) {
      throw new Error(`internal: slot ${slot} holds ${this.lengths[slot]} tokens, not ${start}`)
    }
    const past =
      this.presents[slot] ??
      caches.map((cache) =>
        this.graph.tensor(cache, makeArray(cache.type, cache.state ? cache.dim : 0), 1, 0),
      )
    const outputs = await this.graph.run(
      {
        tokens: [tokens],
        lengths: [start],
        pastLength: start,
        layout: "gapped",
        contextLength: Number.POSITIVE_INFINITY,
        wanted: [logitsCount],
      },
      past,
      { isWhole: true },
    )
    for (const tensor of past) tensor.dispose()
    this.presents[slot] = outputs.caches
    this.lengths[slot] = start + tokens.length
    return outputs
  }

  forget(slot: number): void {
    for (const tensor of this.presents[slot] ?? []) tensor.dispose()
    this.presents[slot] = undefined
    this.lengths[slot] = 0
    this.kept.cut(slot, 0)
  }

  /** Keeps the current states of a slot, so that it can be rewound to them. */
  mark(slot: number): void {
    const { caches } = this.graph.signature
    const states = this.presents[slot]!.map(({ data }, cache) =>
      caches[cache].state ? (data as CacheArray).slice() : undefined,
    )
    this.kept.add(slot, this.lengths[slot], states)
  }

  /** Makes slot `to` hold the first `length` tokens of slot `from`. */
  private takeOver(from: number, to: number, length: number): void {
    const tensors = this.presents[from]
    const { caches, hasStates } = this.graph.signature
    const states = length < this.lengths[from] ? this.kept.at(from, length) : undefined
    const isWhole = states !== undefined || length === this.lengths[from] || !hasStates
    if (!tensors || !this.canRead || length > this.lengths[from] || !isWhole) {
      throw new Error(`internal: slot ${from} cannot give its first ${length} tokens`)
    }
    const cut = caches.map((shape, cache) => {
      const { heads, dim, type, state } = shape
      const data = tensors[cache].data as CacheArray
      if (state) return this.graph.tensor(shape, (states?.[cache] ?? data).slice(), 1, length)
      const array = makeArray(type, heads * length * dim)
      const size = this.lengths[from] * dim
      for (let head = 0; head < heads; head++) {
        array.set(data.subarray(head * size, head * size + length * dim), head * length * dim)
      }
      return this.graph.tensor(shape, array, 1, length)
    })
    if (to === from) this.kept.cut(to, length)
    else this.kept.share(from, to, length)
    for (const tensor of this.presents[to] ?? []) tensor.dispose()
    this.presents[to] = cut
    this.lengths[to] = length
  }
}
