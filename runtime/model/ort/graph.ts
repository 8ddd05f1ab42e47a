/**
 * One run of the graph: it takes tokens, positions and the mask of B rows, and returns logits and
 * caches. If the graph takes `inputs_embeds`, a second graph computes them first.
 */

import type { InferenceSession, Tensor } from "onnxruntime-node"
import { ModelError } from "../../errors.ts"
import { freshAt, type Layout, seenAt } from "./layout.ts"
import { keptName, placesName, stepsName } from "./names.ts"
import type { CacheShape, FloatType, Signature } from "./signature.ts"

export type CacheArray = Float32Array | Uint16Array

export type TensorConstructor = new (
  type: string,
  data: Float32Array | Uint16Array | BigInt64Array | Uint8Array,
  dims: readonly number[],
) => Tensor

/** Tokens of one run of the graph: B rows of S tokens. */
export interface Run {
  /** Tokens by row. Shape [B, S]. */
  readonly tokens: readonly (readonly number[])[]
  /** Number of tokens already in the cache, by row. */
  readonly lengths: readonly number[]
  /** P, the length of the past that is passed in. */
  readonly pastLength: number
  readonly layout: Layout
  /**
   * Maximum positions that a row can fill. In the layout *aligned* the new tokens must lie within
   * them, since the graph may have no more positions.
   */
  readonly contextLength: number
  /** Number of last tokens of which the logits are read, by row. */
  readonly wanted: readonly number[]
  /** Whether the tokens of a row are read one after the other, within one run. */
  readonly isStepwise?: boolean
}

/** The outputs of a run. */
export interface Outputs {
  /** Values of shape [n, V]. */
  readonly logits: Tensor
  /** Returns the first of the n that was requested of a row. The others follow it. */
  readonly logitsAt: (row: number) => number
  /**
   * One tensor per cache: the whole present, or only the positions of the new tokens, [B, H, S, D],
   * if the graph has such outputs.
   */
  readonly caches: readonly Tensor[]
}

export class Graph {
  readonly signature: Signature
  /** The session. Between runs it may be replaced by another one of the same graph. */
  session: InferenceSession
  private readonly embedding: InferenceSession | undefined
  private readonly Tensor: TensorConstructor

  /** `embedding`: the session of the second graph, if the signature names its outputs. */
  constructor(
    session: InferenceSession,
    Tensor: TensorConstructor,
    signature: Signature,
    embedding?: InferenceSession,
  ) {
    this.session = session
    this.Tensor = Tensor
    this.signature = signature
    this.embedding = embedding
  }

  /**
   * Runs the graph. `past` has a tensor for each cache. `isWhole`: whether whole presents are
   * required. `isInPlace`: whether they are written into the tensors of the past.
   */
  async run(
    run: Run,
    past: readonly Tensor[],
    { isWhole = false, isInPlace = false } = {},
  ): Promise<Outputs> {
    const { caches, width } = this.signature
    const inputs = await this.inputs(run, isWhole, isInPlace)
    for (const [cache, { past: name }] of caches.entries()) inputs[name] = past[cache]
    const wanted = caches.map(({ present, fresh }) => (isWhole || isInPlace ? present : (fresh ?? present)))
    const places = wanted.map((name, cache) => [name, isInPlace ? past[cache] : null])
    const outputs = await this.session.run(inputs, { logits: null, ...Object.fromEntries(places) })
    const { logits } = outputs
    if (logits.dims[2] !== width) throw new ModelError(`logits have ${logits.dims[2]} columns, not ${width}`)
    return {
      logits,
      logitsAt: (row) => this.logitsAt(logits, run, row),
      caches: wanted.map((name) => outputs[name]),
    }
  }

  /** Returns a cache tensor of B rows with P positions each. */
  tensor(cache: CacheShape, data: CacheArray, rowCount: number, length: number): Tensor {
    const { state, heads, dim, type } = cache
    return new this.Tensor(type, data, state ? [rowCount, ...state] : [rowCount, heads, length, dim])
  }

  /**
   * Returns the index of the first requested logits of a row, in logits of shape [B, S, V], or of
   * shape [n, 1, V] if the requested tokens were an input.
   */
  private logitsAt(logits: Tensor, { wanted }: Run, row: number): number {
    const [, positionCount] = logits.dims
    const count = wanted[row]
    if (this.signature.namesKept) return sum(wanted.slice(0, row))
    if (positionCount < count) {
      throw new ModelError(`the graph gives logits of ${positionCount} tokens, not of the last ${count}`)
    }
    return (row + 1) * positionCount - count
  }

  async release(): Promise<void> {
    await this.session.release()
    await this.embedding?.release()
  }

  private async inputs(run: Run, isWhole: boolean, isInPlace: boolean): Promise<Record<string, Tensor>> {
    const { caches, positionPlanes, logitsToKeep, namesKept, takesSteps, hasCacheBranch, embeds } =
      this.signature
    const rowCount = run.tokens.length
    const newCount = run.tokens[0].length
    const total = isInPlace ? placeCount(run) : maskLength(run)
    const ids = new BigInt64Array(rowCount * newCount)
    const positions = new BigInt64Array(Math.max(1, positionPlanes) * rowCount * newCount)
    const mask = new BigInt64Array(rowCount * total)
    for (const [row, tokens] of run.tokens.entries()) {
      const length = run.lengths[row]
      for (const [at, token] of tokens.entries()) {
        ids[row * newCount + at] = BigInt(token)
        positions[row * newCount + at] = BigInt(length + at)
      }
      const seen = row * total + seenAt(run.layout, length, run.pastLength)
      mask.fill(1n, seen, seen + length)
      const fresh = row * total + freshAt(run.layout, length, run.pastLength)
      mask.fill(1n, fresh, fresh + newCount)
    }
    for (let plane = 1; plane < positionPlanes; plane++)
      positions.copyWithin(plane * rowCount * newCount, 0, rowCount * newCount)
    const tokens = new this.Tensor("int64", ids, [rowCount, newCount])
    const feeds: Record<string, Tensor> = {
      attention_mask: new this.Tensor("int64", mask, [rowCount, total]),
    }
    if (embeds.length === 0) feeds.input_ids = tokens
    else {
      const made = await this.embedding!.run({ input_ids: tokens })
      for (const name of embeds) feeds[name] = made[name]
    }
    if (positionPlanes > 0) {
      const dims = positionPlanes === 1 ? [rowCount, newCount] : [positionPlanes, rowCount, newCount]
      feeds.position_ids = new this.Tensor("int64", positions, dims)
    }
    if (logitsToKeep) {
      const most = Math.max(1, ...run.wanted)
      feeds[logitsToKeep] = new this.Tensor("int64", BigInt64Array.of(BigInt(most)), [])
    }
    if (namesKept) feeds[keptName] = this.kept(run)
    if (takesSteps) {
      // A single token is a step, unless the whole cache is requested.
      const isStep = newCount === 1 ? !isWhole && run.pastLength > 0 : run.isStepwise
      const count = isStep ? newCount : 0
      feeds[stepsName] = new this.Tensor("int64", BigInt64Array.of(BigInt(count)), [])
    }
    for (const { fresh, heads } of caches)
      if (fresh !== undefined) feeds[placesName(heads)] ??= this.places(run, heads)
    // The graph has two branches: the one without a past counts from the beginning.
    if (hasCacheBranch)
      feeds.use_cache_branch = new this.Tensor("bool", Uint8Array.of(run.pastLength > 0 ? 1 : 0), [1])
    return feeds
  }

  /** Returns the indices of the tokens whose logits are requested; of one token if none are. */
  private kept({ tokens, wanted }: Run): Tensor {
    const last = tokens[0].length
    const places = wanted.flatMap((count, row) =>
      Array.from({ length: count }, (_, at) => [row, last - count + at]).flat(),
    )
    const kept = BigInt64Array.from(places.length > 0 ? places : [0, last - 1], BigInt)
    return new this.Tensor("int64", kept, [kept.length / 2, 1, 2])
  }

  /**
   * Returns the positions of the new tokens in the presents of a cache with this number of heads.
   */
  private places(run: Run, heads: number): Tensor {
    const rowCount = run.tokens.length
    const newCount = run.tokens[0].length
    const places = new BigInt64Array(rowCount * heads * newCount)
    for (const [row, length] of run.lengths.entries()) {
      const first = freshAt(run.layout, length, run.pastLength)
      for (let at = 0; at < heads * newCount; at++)
        places[row * heads * newCount + at] = BigInt(first + (at % newCount))
    }
    return new this.Tensor("int64", places, [rowCount, heads, newCount, 1])
  }
}

/** Returns the columns of the attention mask. */
function maskLength({ layout, pastLength, tokens, contextLength }: Run): number {
  const whole = pastLength + tokens[0].length
  return layout === "aligned" ? Math.min(whole, contextLength) : whole
}

/**
 * Returns the columns of the attention mask of a run that writes into its past: a single token may
 * lie anywhere in it, several tokens of one row are its last.
 */
function placeCount({ pastLength, tokens, lengths }: Run): number {
  return tokens[0].length === 1 ? pastLength : lengths[0] + tokens[0].length
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}

export function makeArray(type: FloatType, length: number): CacheArray {
  return type === "float16" ? new Uint16Array(length) : new Float32Array(length)
}
