/**
 * Canonical forced tokens: where the grammar leaves no choice of bytes, the very tokens that the tokenizer writes there.
 *
 * A mask lets every spelling of a forced text through, and a model asked token by token takes the likeliest first piece,
 * often a single letter: a way of writing that it has hardly seen (llguidance, docs/fast_forward.md). The tokenizer's own
 * tokens need no step each.
 *
 * What is forced ends where a longer token might reach across: after `{"` the bytes `order` of `orderId | orderName` are
 * forced, the token `order` is not, if there is a token `orderI`.
 */
import { concatenate } from "../../grammar/bytes.ts"
import { TokenMark } from "../../grammar/lexeme/token.ts"
import { DeadState } from "../../grammar/state.ts"
import { onlyToken } from "../bits.ts"
import { sharedLocals } from "../local.ts"
import type { TokenMachine } from "../machine.ts"
import type { Matcher } from "../matcher.ts"
import { longestNode, nodeOf } from "../spelling.ts"
import type { Vocabulary } from "../vocabulary.ts"

/** Text → ids, without a begin token; what spells a control token is text. */
export type Encode = (text: string) => readonly number[]

/** Most bytes that `forcedBytes` tells. */
const maxForcedBytes = 4096
/** Most bytes that are encoded at a time, so that no step waits long; what is forced behind them comes with the next call. */
const maxRunBytes = 512
/** So many bytes before the run are encoded with it: tokenizers look at words, not at texts. */
export const tailBytes = 64
/** So many tokens before the run must come back, or the model has left the tokenizer's way. */
const witnesses = 2
/** What the runs of a machine may hold, about; then all are forgotten. */
const maxHeldBytes = 16 << 20

/** Forced bytes, and what may come behind them. */
interface Run {
  /** The last answer: speculation and choices of a request ask for it again. */
  last?: { readonly tail: readonly number[]; readonly encode: Encode; readonly tokens: readonly number[] }
  /** Whole characters. */
  readonly bytes: Uint8Array
  /** Bytes that may follow, ascending. */
  readonly next: readonly number[]
  /** Whether the text may end behind them. */
  readonly mayEnd: boolean
}

const decoder = new TextDecoder("utf-8", { fatal: true })

/** Runs by state, shared by all requests of a machine. */
class Runs {
  private readonly byState = new Map<number, Run | null>()
  private heldBytes = 0

  /** Null: nothing is forced at `state`. */
  at(machine: TokenMachine, state: number): Run | null {
    const known = this.byState.get(state)
    if (known !== undefined) return known
    const run = makeRun(machine, state)
    // An entry, and numbers of 8 bytes: what may follow, and the last answer, at most one token for each byte.
    const bytes = 64 + (run ? 8 * (run.next.length + 2 * run.bytes.length + tailBytes) : 0)
    if (this.heldBytes + bytes > maxHeldBytes) {
      this.byState.clear()
      this.heldBytes = 0
    }
    this.byState.set(state, run)
    this.heldBytes += bytes
    return run
  }
}

const runsOf = new WeakMap<TokenMachine, Runs>()

/** The longest bytes, at most 4,096, with which every way on begins; empty once the text has ended. */
export function forcedBytes(matcher: Matcher): Uint8Array {
  if (matcher.isTerminated()) return new Uint8Array(0)
  return matcher.found(() => follow(matcher.fsm, matcher.state, maxForcedBytes).bytes)
}

/**
 * Returns the tokens in which the tokenizer itself would write what is forced where `matcher` stands: if one token alone may
 * follow, that token; none if nothing is forced, or if the tokenizer might write it otherwise.
 *
 * `before`: prompt and output so far; its last 64 tokens are read. `encode`: text → ids, without control tokens.
 */
export function forcedTokens(matcher: Matcher, before: readonly number[], encode: Encode): readonly number[] {
  const row = new Uint32Array(matcher.fsm.vocabulary.words)
  if (matcher.fillMask(row) === "single") return [onlyToken(row)]
  if (matcher.isTerminated()) return []
  return matcher.found(() => canonicalTokens(matcher.fsm, matcher.state, before, encode))
}

/**
 * The tokens behind `before` that the tokenizer writes whatever follows what is forced at `state`; empty where nothing is
 * forced, the grammar leaves all spelling to the model, or `before` does not end as the tokenizer would have written it. All of them may follow, in order. The last 64
 * tokens of `before` say all. Cost: one encoding of up to 576 bytes for each class of characters that may follow; a state
 * asked again behind the same tokens costs next to nothing.
 */
export function canonicalTokens(
  machine: TokenMachine,
  state: number,
  before: readonly number[],
  encode: Encode,
): readonly number[] {
  const { vocabulary } = machine
  // WordPiece decodes a text's first token otherwise: what it writes is not the text that was encoded.
  if (vocabulary.dropsFirstSpace) return []
  if (machine.grammar?.isForced === false) return []
  let runs = runsOf.get(machine)
  if (!runs) {
    runs = new Runs()
    runsOf.set(machine, runs)
  }
  const run = runs.at(machine, state)
  if (!run) return []
  const tail = tailOf(vocabulary, before)
  const { last } = run
  if (last && last.encode === encode && sameIds(last.tail, tail.ids)) return last.tokens
  const tokens = readable(machine, state, tokensOf(run, vocabulary, tail, encode))
  run.last = { tail: tail.ids, encode, tokens }
  return tokens
}

/** The first of `tokens` that may follow: a budget of tokens may be too small for the way the tokenizer writes a text. */
function readable(machine: TokenMachine, state: number, tokens: readonly number[]): readonly number[] {
  let at = state
  for (const [count, token] of tokens.entries()) {
    at = machine.next(at, token)
    if (at === DeadState) return tokens.slice(0, count)
  }
  return tokens
}

function tokensOf(run: Run, vocabulary: Vocabulary, tail: Tail, encode: Encode): readonly number[] {
  const bytes = concatenate([tail.bytes, run.bytes])
  const end = settledEnd(vocabulary, bytes, run)
  if (end <= tail.bytes.length) return []
  let common: readonly number[] | undefined
  for (const behind of continuations(run)) {
    const ids = encodeBehind(vocabulary, bytes, behind, tail, encode)
    const kept = endingBy(vocabulary, ids, end - tail.bytes.length)
    common = common ? common.slice(0, sharedLength(common, kept)) : kept
    if (common.length === 0) return []
  }
  return common ?? []
}

function makeRun(machine: TokenMachine, state: number): Run | null {
  const { bytes, last } = follow(machine, state, maxRunBytes)
  const whole = wholeLength(bytes)
  if (whole === 0) return null
  if (whole < bytes.length) return { bytes: bytes.subarray(0, whole), next: [bytes[whole]], mayEnd: false }
  const next = machine.nextBytes(last)
  // Where a control token may come the tokenizer begins anew, as behind the end.
  const mayEnd = machine.isAccepting(last) || next.includes(TokenMark)
  return { bytes, next: next.filter((byte) => byte !== TokenMark), mayEnd }
}

/** The forced bytes from `state` on, at most `most`, and the state behind them. */
function follow(machine: TokenMachine, state: number, most: number): { bytes: Uint8Array; last: number } {
  const bytes: number[] = []
  let last = state
  while (bytes.length < most && !machine.isAccepting(last)) {
    const next = machine.nextBytes(last, 2)
    if (next.length !== 1 || next[0] === TokenMark) break
    bytes.push(next[0])
    last = machine.advance(last, Uint8Array.of(next[0]))
  }
  return { bytes: Uint8Array.from(bytes), last }
}

/** Length without a character that is cut at the end. */
function wholeLength(bytes: Uint8Array): number {
  let lead = bytes.length - 1
  while (lead >= 0 && isContinuation(bytes[lead])) lead--
  if (lead < 0) return 0
  const first = bytes[lead]
  const length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
  return lead + length <= bytes.length ? bytes.length : lead
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80
}

/** The last tokens before the run, back to a control token, beginning with a whole character. */
interface Tail {
  readonly ids: readonly number[]
  readonly bytes: Uint8Array
}

function tailOf(vocabulary: Vocabulary, before: readonly number[]): Tail {
  let start = before.length
  for (let length = 0; start > 0; start--) {
    const bytes = vocabulary.bytes(before[start - 1])
    length += bytes.length
    if (bytes.length === 0 || length > tailBytes) break
  }
  while (start < before.length && isContinuation(vocabulary.bytes(before[start])[0])) start++
  const ids = before.slice(start)
  return { ids, bytes: concatenate(ids.map((id) => vocabulary.bytes(id))) }
}

/**
 * Up to where the tokens stand whatever comes: no token that some continuation may hold reaches across that place. So no
 * merge does, and what lies before is written alike (`Publishe` may end in `he`, `Publisher` in `er`, and neither need
 * begin as the other).
 */
function settledEnd(vocabulary: Vocabulary, bytes: Uint8Array, { next }: Run): number {
  const { trie } = sharedLocals(vocabulary)
  let end = bytes.length
  for (let start = Math.max(0, end - vocabulary.maxTokenBytes + 1); start < end; start++) {
    const node = nodeOf(trie, bytes, start)
    if (node >= 0 && next.some((byte) => trie.child(node, byte) !== 0)) end = start
  }
  if (end === bytes.length) return end
  // A token that reaches across the place moves it to where that token begins.
  for (let start = end - 1; start >= 0 && start > end - vocabulary.maxTokenBytes; start--) {
    if (trie.depth(longestNode(trie, bytes, start)) > end - start) end = start
  }
  return end
}

/**
 * Texts that may stand behind the run, one of each class of characters: what follows decides how a tokenizer cuts spaces,
 * and digits that it groups from the right.
 */
function continuations({ next, mayEnd }: Run): string[] {
  const texts = new Map<string, string>()
  if (mayEnd) texts.set("end", "")
  for (const byte of next) {
    const text = byte < 0x80 ? String.fromCharCode(byte) : "é"
    const kind = classes.find(([, pattern]) => pattern.test(text))![0]
    if (!texts.has(kind)) texts.set(kind, text)
  }
  return [...texts.values()]
}

const classes: readonly [kind: string, pattern: RegExp][] = [
  ["lower case", /[a-z]/],
  ["upper case", /[A-Z]/],
  ["digit", /[0-9]/],
  ["space", / /],
  // biome-ignore lint/suspicious/noControlCharactersInRegex: line breaks and tabs are among them
  ["control", /[\x00-\x1f\x7f]/],
  ["quote", /["'`]/],
  ["letter beyond ASCII", /é/],
  ["punctuation", /./],
]

/** What the tokenizer writes behind the tail; empty if it does not write the tail as it stands. */
function encodeBehind(
  vocabulary: Vocabulary,
  bytes: Uint8Array,
  behind: string,
  tail: Tail,
  encode: Encode,
): readonly number[] {
  let text: string
  try {
    text = decoder.decode(bytes) + behind
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return []
  }
  const ids = encode(text)
  const spelled = concatenate(ids.map((id) => vocabulary.bytes(id)))
  const wanted = concatenate([bytes, encoder.encode(behind)])
  // Some tokenizers write a space before every text.
  const shift = spelled.length - wanted.length
  if (shift < 0 || shift > 1 || wanted.some((byte, at) => spelled[at + shift] !== byte)) return []
  let count = 0
  let length = 0
  while (length < tail.bytes.length + shift) length += vocabulary.bytes(ids[count++]).length
  if (length !== tail.bytes.length + shift || (count === 0 && shift > 0)) return []
  const checked = Math.min(witnesses, tail.ids.length)
  for (let back = 1; back <= checked; back++) {
    if (ids[count - back] !== tail.ids[tail.ids.length - back]) return []
  }
  return ids.slice(count)
}

const encoder = new TextEncoder()

/** The first of `ids` that together spell at most `length` bytes. */
function endingBy(vocabulary: Vocabulary, ids: readonly number[], length: number): readonly number[] {
  let count = 0
  for (let left = length; count < ids.length; count++) {
    left -= vocabulary.bytes(ids[count]).length
    if (left < 0) break
  }
  return ids.slice(0, count)
}

function sameIds(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && sharedLength(a, b) === a.length
}

function sharedLength(a: readonly number[], b: readonly number[]): number {
  let length = 0
  while (length < a.length && a[length] === b[length]) length++
  return length
}
