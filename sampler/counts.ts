/**
 * The tokens of one sequence, prompt then output, and how often each occurs.
 *
 * Penalties need counts of a few hundred ids out of a hundred thousand. So the counts are a sparse
 * table, which is built when a stage first asks for it and updated from then on: a token costs
 * O(1), and `rollback` undoes it. The history also stores mirostat's μ by position, so that a
 * rollback, a fork or a repeated step finds the value of its own position.
 */

/**
 * Counts by id. Dense slots 0…size−1 are in order of first occurrence; a slot whose counts are 0 is
 * free.
 */
export interface CountTable {
  readonly size: number
  readonly ids: Int32Array
  /** Occurrences in the output. */
  readonly outputCounts: Int32Array
  /** Forced tokens among the occurrences in the output. */
  readonly forcedCounts: Int32Array
  readonly promptCounts: Int32Array
}

/** The tokens of one sequence and their counts, which the penalties read. A token costs O(1). */
export class TokenCounts {
  readonly promptCount: number
  /** Prompt, then output; entries from `length` on are unused. */
  private tokens: Int32Array
  /** 1 for each token that was the only legal one. As long as `tokens`. */
  private forced: Uint8Array
  private count: number
  private table: Table | undefined
  /** Pairs (position, μ after the draw at that position), ascending by position. */
  private mus: [position: number, mu: number][] = []

  constructor(promptIds: ArrayLike<number>) {
    this.promptCount = promptIds.length
    this.count = promptIds.length
    this.tokens = new Int32Array(promptIds.length + 64)
    this.tokens.set(promptIds)
    this.forced = new Uint8Array(this.tokens.length)
  }

  get length(): number {
    return this.count
  }

  get outputCount(): number {
    return this.count - this.promptCount
  }

  /** Returns the token at an index of prompt and output. */
  at(index: number): number {
    return this.tokens[index]
  }

  isForced(index: number): boolean {
    return this.forced[index] === 1
  }

  /** Returns all tokens so far; valid until the next change. */
  history(): Int32Array {
    return this.tokens.subarray(0, this.count)
  }

  push(token: number): void {
    this.append(token, 0)
  }

  /** Appends a token as `push` does, and records that it was the only legal one. */
  pushForced(token: number): void {
    this.append(token, 1)
  }

  /** Removes the last n output tokens. Throws RangeError if there are fewer. */
  rollback(n: number): void {
    if (!(n >= 0 && n <= this.outputCount)) {
      throw new RangeError(`rollback: ${n} is not from 0 to the ${this.outputCount} output tokens`)
    }
    for (; n > 0; n--) {
      this.count--
      this.table?.addOutput(this.tokens[this.count], this.forced[this.count], -1)
    }
  }

  /** Returns an independent copy. O(tokens). */
  fork(): TokenCounts {
    const copy = new TokenCounts(this.tokens.subarray(0, this.promptCount))
    for (let index = this.promptCount; index < this.count; index++) {
      copy.append(this.tokens[index], this.forced[index])
    }
    copy.mus = this.mus.slice()
    return copy
  }

  /** Returns the current counts; valid until the next change. The first call costs O(tokens). */
  counts(): CountTable {
    if (!this.table) {
      this.table = new Table()
      for (let index = 0; index < this.promptCount; index++) this.table.addPrompt(this.tokens[index])
      for (let index = this.promptCount; index < this.count; index++) {
        this.table.addOutput(this.tokens[index], this.forced[index], 1)
      }
    }
    return this.table
  }

  /** Returns μ before the draw at `position`, or `initial` if none was recorded before it. */
  muBefore(position: number, initial: number): number {
    let at = this.mus.length
    while (at > 0 && this.mus[at - 1][0] >= position) at--
    return at > 0 ? this.mus[at - 1][1] : initial
  }

  /**
   * Records μ after the draw at `position`. Replaces the values of that position and of later ones.
   */
  recordMu(position: number, mu: number): void {
    while (this.mus.length > 0 && this.mus[this.mus.length - 1][0] >= position) this.mus.pop()
    this.mus.push([position, mu])
  }

  private append(token: number, forced: number): void {
    if (this.count === this.tokens.length) {
      this.tokens = grow(this.tokens, new Int32Array(2 * this.count))
      this.forced = grow(this.forced, new Uint8Array(2 * this.count))
    }
    this.tokens[this.count] = token
    this.forced[this.count++] = forced
    this.table?.addOutput(token, forced, 1)
  }
}

/**
 * A hash table with open addressing over dense slots: `index` holds slot + 1; 0 marks a free entry.
 */
class Table implements CountTable {
  size = 0
  ids = new Int32Array(64)
  outputCounts = new Int32Array(64)
  forcedCounts = new Int32Array(64)
  promptCounts = new Int32Array(64)
  private index = new Int32Array(256)

  addPrompt(token: number): void {
    this.promptCounts[this.slot(token)]++
  }

  addOutput(token: number, forced: number, change: 1 | -1): void {
    const slot = this.slot(token)
    this.outputCounts[slot] += change
    if (forced) this.forcedCounts[slot] += change
  }

  private slot(token: number): number {
    const mask = this.index.length - 1
    let at = hash(token) & mask
    while (this.index[at] !== 0) {
      const slot = this.index[at] - 1
      if (this.ids[slot] === token) return slot
      at = (at + 1) & mask
    }
    if (this.size === this.ids.length) return this.enlarge(token)
    this.ids[this.size] = token
    this.index[at] = ++this.size
    return this.size - 1
  }

  private enlarge(token: number): number {
    const length = 2 * this.ids.length
    this.ids = grow(this.ids, new Int32Array(length))
    this.outputCounts = grow(this.outputCounts, new Int32Array(length))
    this.forcedCounts = grow(this.forcedCounts, new Int32Array(length))
    this.promptCounts = grow(this.promptCounts, new Int32Array(length))
    this.index = new Int32Array(4 * length)
    const mask = this.index.length - 1
    for (let slot = 0; slot < this.size; slot++) {
      let at = hash(this.ids[slot]) & mask
      while (this.index[at] !== 0) at = (at + 1) & mask
      this.index[at] = slot + 1
    }
    return this.slot(token)
  }
}

function hash(token: number): number {
  return Math.imul(token, 0x9e3779b9) >>> 8
}

function grow<Column extends Int32Array | Uint8Array>(from: Column, to: Column): Column {
  to.set(from)
  return to
}
