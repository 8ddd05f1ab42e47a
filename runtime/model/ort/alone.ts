/**
 * Slots that run one at a time: the cache outputs of a step are the inputs of the next, untouched, or cut where the slot goes back.
 *
 * The only way where the cache lives on a GPU (and cannot be cut), where no layout of rows is right, and, unless the caller wants speed,
 * where quantised activations make rows depend on each other.
 */

import type { Tensor } from "onnxruntime-node"
import type { Feed } from "../model.ts"
import { type CacheArray, type Graph, makeArray, type Outputs } from "./graph.ts"

export class AloneSlots {
  private readonly graph: Graph
  private readonly canRewind: boolean
  /** The outputs of the slot's last step, by cache; undefined when empty. */
  private readonly presents: (readonly Tensor[] | undefined)[]
  private readonly lengths: number[]

  constructor(graph: Graph, { slotCount, canRewind }: { slotCount: number; canRewind: boolean }) {
    this.graph = graph
    this.canRewind = canRewind
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
      true,
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
  }

  /** Makes slot `to` hold the first `length` tokens of slot `from`. */
  private takeOver(from: number, to: number, length: number): void {
    const tensors = this.presents[from]
    if (!tensors || !this.canRewind || length > this.lengths[from]) {
      throw new Error(`internal: slot ${from} cannot give its first ${length} tokens`)
    }
    const cut = this.graph.signature.caches.map((shape, cache) => {
      const { heads, dim, type } = shape
      const data = tensors[cache].data as CacheArray
      const array = makeArray(type, heads * length * dim)
      const size = this.lengths[from] * dim
      for (let head = 0; head < heads; head++) {
        array.set(data.subarray(head * size, head * size + length * dim), head * length * dim)
      }
      return this.graph.tensor(shape, array, 1, length)
    })
    this.forget(to)
    this.presents[to] = cut
    this.lengths[to] = length
  }
}
