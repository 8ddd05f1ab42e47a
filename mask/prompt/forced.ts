/**
 * Canonical forced tokens: where the grammar leaves no choice of bytes, the tokens that the
 * tokenizer itself writes there.
 *
 * A mask allows every spelling of a forced text, and a model that is asked token by token takes the
 * likeliest first piece, often a single letter: a spelling that it has hardly seen (llguidance,
 * docs/fast_forward.md). The tokenizer's own tokens are known without a step of the model for each.
 *
 * Forced tokens stop where a longer token might cross the end of the forced bytes: after `{"` the
 * bytes `order` of `orderId | orderName` are forced, but the token `order` is not if there is a
 * token `orderI`.
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

/**
 * Encodes a text as ids, without a begin token. Text that spells a control token is encoded as
 * text.
 */
export type Encode = (text: string) => readonly number[]

/** Maximum number of bytes that `forcedBytes` returns. */
const maxForcedBytes = 4096
/**
 * Maximum number of bytes that are encoded at a time, so that no step waits long. The next call
 * encodes the forced bytes after them.
 */
const maxRunBytes = 512
/**
 * Number of bytes before the run that are encoded with it; tokenizers look at words, not at whole
 * texts.
 */
export const tailBytes = 64
/**
 * Number of tokens before the run that the encoding must reproduce; otherwise the output is not
 * spelled as the tokenizer spells it.
 */
const witnesses = 2
/** Approximate bound on the bytes of a machine's runs. All runs are evicted when it is exceeded. */
const maxHeldBytes = 16 << 20

/** Forced bytes, and what may follow them. */
interface Run {
  /** The last result, cached because speculation and the choices of a request ask for it again. */
  last?: { readonly tail: readonly number[]; readonly encode: Encode; readonly tokens: readonly number[] }
  /** Whole characters only. */
  readonly bytes: Uint8Array
  /** Bytes that may follow, ascending. */
  readonly next: readonly number[]
  /** Whether the text may end after them. */
  readonly mayEnd: boolean
}

const decoder = new TextDecoder("utf-8", { fatal: true })

/** Runs by state, shared by all requests of a machine. */
class Runs {
  private readonly byState = new Map<number, Run | null>()
  private heldBytes = 0

  /** Returns null if nothing is forced at `state`. */
  at(machine: TokenMachine, state: number): Run | null {
    const known = this.byState.get(state)
    if (known !== undefined) return known
    const run = makeRun(machine, state)
    // The bytes of an entry, and 8 bytes for each number: the bytes that may follow, and the last
    // result, which has at most one token per byte.
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

/**
 * Returns the longest prefix that all continuations share, at most 4,096 bytes; empty once the text
 * has ended.
 */
export function forcedBytes(matcher: Matcher): Uint8Array {
  if (matcher.isTerminated()) return new Uint8Array(0)
  return matcher.found(() => follow(matcher.fsm, matcher.state, maxForcedBytes).bytes)
}

/**
 * Returns the tokens in which the tokenizer itself would write the bytes that are forced at the
 * position of `matcher`. Returns a single token if no other may follow, and none if nothing is
 * forced or the tokenizer might write the bytes differently.
 *
 * `before`: prompt and output so far; its last 64 tokens are read. `encode`: text → ids, without
 * control tokens.
 */
export function forcedTokens(matcher: Matcher, before: readonly number[], encode: Encode): readonly number[] {
  const row = new Uint32Array(matcher.fsm.vocabulary.words)
  if (matcher.fillMask(row) === "single") return [onlyToken(row)]
  if (matcher.isTerminated()) return []
  return matcher.found(() => canonicalTokens(matcher.fsm, matcher.state, before, encode))
}

/**
 * Returns the tokens that the tokenizer writes after `before` for the bytes that are forced at
 * `state`, whatever follows them. Empty if nothing is forced, if the grammar leaves all spelling to
 * the model, or if `before` does not end as the tokenizer would have written it. All of the tokens
 * may follow, in order. Only the last 64 tokens of `before` matter. Cost: one encoding of up to 576
 * bytes for each class of characters that may follow; a repeated call for the same state and the
 * same tokens before it costs next to nothing.
 */
export function canonicalTokens(
  machine: TokenMachine,
  state: number,
  before: readonly number[],
  encode: Encode,
): readonly number[] {
  const { vocabulary } = machine
  // WordPiece decodes the first token of a text differently, so its bytes are not the text that was
  // encoded.
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

/**
 * Returns the longest prefix of `tokens` that may follow: a token budget may be too small for the
 * tokenizer's spelling.
 */
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
  // A tokenizer starts afresh after a control token, so the text counts as ended before one.
  const mayEnd = machine.isAccepting(last) || next.includes(TokenMark)
  return { bytes, next: next.filter((byte) => byte !== TokenMark), mayEnd }
}

/** Returns the forced bytes from `state` on, at most `most`, and the state after them. */
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

/** Returns the length without a truncated character at the end. */
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

/**
 * The last tokens before the run, none of them before the last control token. They begin with a
 * whole character.
 */
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
 * Returns the offset up to which the tokens are the same whatever follows: no token that some
 * continuation may contain crosses it. So no merge crosses it either, and the bytes before it are
 * always written alike (`Publishe` may end in `he`, `Publisher` in `er`, and the two need not begin
 * alike).
 */
function settledEnd(vocabulary: Vocabulary, bytes: Uint8Array, { next }: Run): number {
  const { trie } = sharedLocals(vocabulary)
  let end = bytes.length
  for (let start = Math.max(0, end - vocabulary.maxTokenBytes + 1); start < end; start++) {
    const node = nodeOf(trie, bytes, start)
    if (node >= 0 && next.some((byte) => trie.child(node, byte) !== 0)) end = start
  }
  if (end === bytes.length) return end
  // A token that crosses the offset moves it back to where that token begins.
  for (let start = end - 1; start >= 0 && start > end - vocabulary.maxTokenBytes; start--) {
    if (trie.depth(longestNode(trie, bytes, start)) > end - start) end = start
  }
  return end
}

/**
 * Returns texts that may follow the run, one for each class of characters: the next character
 * decides how a tokenizer splits spaces, and digits that it groups from the right.
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

/**
 * Returns the tokens that the tokenizer writes after the tail; empty if it does not reproduce the
 * tail.
 */
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

/** Returns the longest prefix of `ids` that spells at most `length` bytes. */
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
