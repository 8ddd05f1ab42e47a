/**
 * The edits of single tokens: bias, penalties, DRY, minimum length, bad words, repeated n-grams.
 *
 * All of these concern few ids. So they are one sparse list, collected once for each row on the
 * host; the definition, the fast path and the GPU apply the same list. Values are float32 and are
 * rounded after each operation: bias, then repetition by the sign of the biased value (Keskar et
 * al. 2019, 4.1), then frequency and presence in one subtraction, then DRY.
 */
import { dryPenalties } from "./dry.ts"
import { countBits, type Relaxation, type SampleRow } from "./row.ts"

const { fround } = Math

/**
 * Bound of all values, which ensures that differences and products of two values never overflow.
 */
export const MaxLogit = fround(1e30)

/** Bits of the bans, from the last to be lifted to the first. */
export const Ban = { badWords: 1, minTokens: 2, ngram: 4 } as const

const liftOrder: readonly [number, Relaxation][] = [
  [Ban.ngram, "no_repeat_ngram_size"],
  [Ban.minTokens, "min_tokens"],
  [Ban.badWords, "bad_words"],
]

/**
 * Columns of n edits. Ids are ascending and distinct. The value is 0 if a stage does not concern
 * the id.
 */
export interface Edits {
  readonly count: number
  readonly ids: Int32Array
  readonly bias: Float32Array
  /** 1 if the repetition penalty applies. */
  readonly repeated: Uint8Array
  /** Sum of frequency and presence penalty. */
  readonly sub: Float32Array
  readonly dry: Float32Array
  /** Bits of `Ban`. */
  readonly bans: Uint8Array
}

interface Edit {
  bias: number
  repeated: number
  sub: number
  dry: number
  bans: number
}

/** The edits of a row without any. */
export const noEdits: Edits = {
  count: 0,
  ids: new Int32Array(0),
  bias: new Float32Array(0),
  repeated: new Uint8Array(0),
  sub: new Float32Array(0),
  dry: new Float32Array(0),
  bans: new Uint8Array(0),
}

/**
 * Returns the row's edits. O(number of ids · log), plus O(history) if a stage reads the history.
 */
export function collectEdits(row: SampleRow): Edits {
  const { params, tokens } = row
  if (!hasEdits(row)) return noEdits
  const table = new Map<number, Edit>()
  const edit = (id: number): Edit => {
    let found = table.get(id)
    if (!found) {
      found = { bias: 0, repeated: 0, sub: 0, dry: 0, bans: 0 }
      table.set(id, found)
    }
    return found
  }
  for (const [index, id] of params.biasIds.entries()) edit(id).bias = params.biasValues[index]
  if (!isExempt(row)) {
    collectPenalties(row, edit)
    for (const [id, penalty] of dryPenalties(tokens, params)) edit(id).dry = fround(penalty)
  }
  if (tokens.outputCount < params.minTokens) for (const id of params.endIds) edit(id).bans |= Ban.minTokens
  for (const id of badWordIds(row)) edit(id).bans |= Ban.badWords
  for (const id of ngramIds(row)) edit(id).bans |= Ban.ngram
  return toColumns(table)
}

function hasEdits({ params, tokens }: SampleRow): boolean {
  return (
    params.biasIds.length > 0 ||
    hasPenalties(params) ||
    params.dryMultiplier > 0 ||
    params.badWords.length > 0 ||
    params.noRepeatNgramSize > 0 ||
    tokens.outputCount < params.minTokens
  )
}

function hasPenalties(params: SampleRow["params"]): boolean {
  return params.repetitionPenalty !== 1 || params.frequencyPenalty !== 0 || params.presencePenalty !== 0
}

/**
 * Returns whether the row is exempt from penalties: in a row with few legal tokens, which the
 * grammar dictates, they would suppress brackets and quotes.
 */
function isExempt({ params, mask }: SampleRow): boolean {
  return params.penaltyExempt === "structural" && mask !== null && countBits(mask) <= 64
}

function collectPenalties(row: SampleRow, edit: (id: number) => Edit): void {
  const { params, tokens } = row
  if (!hasPenalties(params)) return
  if (params.penaltyWindow !== null) {
    collectWindowed(row, params.penaltyWindow, edit)
    return
  }
  const skipsForced = params.penaltyExempt === "structural"
  const { size, ids, outputCounts, forcedCounts, promptCounts } = tokens.counts()
  for (let slot = 0; slot < size; slot++) {
    const inOutput = outputCounts[slot] - (skipsForced ? forcedCounts[slot] : 0)
    if (inOutput + promptCounts[slot] === 0) continue
    setPenalty(edit(ids[slot]), inOutput, params)
  }
}

// A window counts tokens of the prompt like tokens of the output, as llama.cpp does.
function collectWindowed({ params, tokens }: SampleRow, window: number, edit: (id: number) => Edit): void {
  const skipsForced = params.penaltyExempt === "structural"
  const counts = new Map<number, number>()
  for (let index = Math.max(0, tokens.length - window); index < tokens.length; index++) {
    if (skipsForced && tokens.isForced(index)) continue
    counts.set(tokens.at(index), (counts.get(tokens.at(index)) ?? 0) + 1)
  }
  for (const [id, count] of counts) setPenalty(edit(id), count, params)
}

function setPenalty(edit: Edit, count: number, params: SampleRow["params"]): void {
  if (params.repetitionPenalty !== 1) edit.repeated = 1
  if (count > 0) edit.sub = fround(params.frequencyPenalty * count + params.presencePenalty)
}

/**
 * Yields the ids that would complete a bad word at the end of the output, except end-of-sequence
 * ids.
 */
function* badWordIds({ params, tokens }: SampleRow): Generator<number> {
  for (const word of params.badWords) {
    const last = word.length - 1
    if (last > tokens.outputCount || params.endIds.includes(word[last])) continue
    const start = tokens.length - last
    let at = 0
    while (at < last && tokens.at(start + at) === word[at]) at++
    if (at === last) yield word[last]
  }
}

/** Yields the ids that would repeat an n-gram of prompt and output. */
function* ngramIds({ params, tokens }: SampleRow): Generator<number> {
  const prefix = params.noRepeatNgramSize - 1
  if (prefix < 0) return
  const start = tokens.length - prefix
  for (let from = 0; from + prefix < tokens.length; from++) {
    let at = 0
    while (at < prefix && tokens.at(from + at) === tokens.at(start + at)) at++
    if (at === prefix) yield tokens.at(from + prefix)
  }
}

function toColumns(table: ReadonlyMap<number, Edit>): Edits {
  const ids = Int32Array.from(table.keys()).sort()
  const edits = {
    count: ids.length,
    ids,
    bias: new Float32Array(ids.length),
    repeated: new Uint8Array(ids.length),
    sub: new Float32Array(ids.length),
    dry: new Float32Array(ids.length),
    bans: new Uint8Array(ids.length),
  }
  for (const [index, id] of ids.entries()) {
    const edit = table.get(id)!
    edits.bias[index] = edit.bias
    edits.repeated[index] = edit.repeated
    edits.sub[index] = edit.sub
    edits.dry[index] = edit.dry
    edits.bans[index] = edit.bans
  }
  return edits
}

/** Stage 5: returns the value with its bias. */
export function addBias(x: number, bias: number): number {
  return bias === 0 ? x : fround(x + bias)
}

/** Stages 7 and 8: returns the penalised value. `inverse` is f32(1 / repetition penalty). */
export function penalise(x: number, repeated: number, penalty: number, inverse: number, sub: number): number {
  let value = x
  if (repeated) {
    value = fround(value > 0 ? value * inverse : value * penalty)
    value = value > MaxLogit ? MaxLogit : value < -MaxLogit ? -MaxLogit : value
  }
  return sub === 0 ? value : fround(value - sub)
}

/** Stage 9: returns the value minus the DRY penalty. */
export function subtractDry(x: number, dry: number): number {
  return dry === 0 ? x : fround(x - dry)
}

/** Returns the repetition penalty and its inverse as float32, bounded so that no product is NaN. */
export function repetitionFactors(penalty: number): { penalty: number; inverse: number } {
  const bounded = Math.min(1e30, Math.max(1e-30, penalty))
  return { penalty: fround(bounded), inverse: fround(1 / bounded) }
}

/**
 * Returns the bans of `token` that do not hold because it is the only legal token. O(history) if
 * n-grams are banned.
 */
export function overruledBans(row: SampleRow, token: number): Relaxation[] {
  const { params, tokens } = row
  const isEarly = tokens.outputCount < params.minTokens && params.endIds.includes(token)
  const names: [boolean, Relaxation][] = [
    [params.noRepeatNgramSize > 0 && has(ngramIds(row), token), "no_repeat_ngram_size"],
    [isEarly, "min_tokens"],
    [params.badWords.length > 0 && has(badWordIds(row), token), "bad_words"],
  ]
  return names.flatMap(([isOverruled, name]) => (isOverruled ? [name] : []))
}

function has(ids: Iterable<number>, token: number): boolean {
  for (const id of ids) if (id === token) return true
  return false
}

/**
 * Returns which bans hold: all, unless they leave no token. `isAllowed` says whether the masks and
 * the logits allow an id; `allowedCount` is the number of such ids. The grammar's mask and the
 * allowed ids are never lifted.
 */
export function liftBans(
  edits: Edits,
  allowedCount: number,
  isAllowed: (id: number) => boolean,
): { bans: number; relaxed: Relaxation[] } {
  let bans = Ban.badWords | Ban.minTokens | Ban.ngram
  const relaxed: Relaxation[] = []
  for (const [ban, name] of liftOrder) {
    let banned = 0
    let isUsed = false
    for (let index = 0; index < edits.count; index++) {
      if ((edits.bans[index] & bans) === 0 || !isAllowed(edits.ids[index])) continue
      banned++
      if (edits.bans[index] & ban) isUsed = true
    }
    if (banned < allowedCount) return { bans, relaxed }
    bans &= ~ban
    if (isUsed) relaxed.push(name)
  }
  return { bans, relaxed }
}
