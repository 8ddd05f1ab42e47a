/**
 * One sequence's walk through its constraint, its budget, and the patterns that end it. All work
 * with a cost that depends on the grammar happens here, so that it can run in a separate thread.
 *
 * A walk moves by tokens that were drawn (`accept`) and by those that are forced (`look`). Its
 * answers are plain data: a `Verdict` for each token, and an `Outlook`, which is the mask of the
 * next draw with the forced run before it.
 */
import { GrammarError } from "../../grammar/index.ts"
import {
  canonicalTokens,
  type Encode,
  isAllowed,
  type Matcher,
  onlyToken,
  type RowKind,
  type TokenMachine,
  tailBytes,
  type Vocabulary,
} from "../../mask/index.ts"
import type { Closing, Misfitting } from "../engine/closing.ts"
import { Detokenizer } from "../model/detokenizer.ts"
import { type RegexMatch, RegexWatch, type StopRegexes } from "../stops/stopregex.ts"
import { type DraftedTokens, draftAlong } from "./draft.ts"
import { Habits } from "./habits.ts"

/** Matches of the patterns that end with one code point. */
export interface PatternPoint {
  /** Number of units at the end of the text that a match could still include. */
  readonly depth: number
  readonly found: readonly RegexMatch[]
}

/** The effect of an accepted token. */
export interface Verdict {
  /** Whether the text so far is complete. */
  readonly isAccepting: boolean
  /** Whether it is complete and nothing may follow. */
  readonly isExhausted: boolean
  /**
   * Byte counts within the token after which the text was complete, if stop strings are searched.
   */
  readonly ends?: readonly number[]
  /** One for each code point that the token completed, if there are patterns. */
  readonly points?: readonly PatternPoint[]
  /** Duration in microseconds; undefined if no work was done. */
  readonly acceptUs?: number
  /**
   * Forced tokens that follow it, up to the first for which a mask would be needed. They go into
   * the model together with it.
   */
  readonly run?: readonly RunStep[]
  /** The likely continuation, if requested. */
  readonly draft?: GuessedTokens
}

/** Guesses that the constraint allows, and the tokens that it forces between them. */
export interface GuessedTokens {
  readonly tokens: readonly number[]
  /** Whether each of them is forced. */
  readonly forced: readonly boolean[]
}

/**
 * The refusal of a token: after it the rest of the text would not fit into the budget, or would
 * need a banned word. The walk has not moved.
 */
export interface Misfit {
  readonly why: Misfitting
  /** A token that fits; −1 if the text is complete and may end. */
  readonly next: number
}

export function isMisfit(answer: Verdict | Misfit): answer is Misfit {
  return "next" in answer
}

/** A forced token that the walk has accepted. */
export interface RunStep extends Verdict {
  readonly token: number
}

export interface Outlook {
  /** Tokens that are forced next, in order. The mask is the one after them. */
  readonly run: readonly RunStep[]
  /** Whether the run was cut: more tokens may be forced, and another look finds them. */
  readonly isCut: boolean
  readonly kind: RowKind
  /**
   * Equal ids mean equal masks, over all sequences of a process; undefined if no other sequence
   * shares the mask.
   */
  readonly maskId: number | undefined
  /**
   * A lower bound of the bytes of any completion after the run; 0 if the text is complete or no
   * bound is known.
   */
  readonly least: number
  /** A byte that every completion after the run contains; −1 if none is known. */
  readonly closer: number
  /** Microseconds of every mask that was filled. */
  readonly fillUs: readonly number[]
}

/** The tokens that may follow after some further tokens. The walk does not move there. */
export interface Glimpse {
  readonly isOnly: boolean
  /** Tokens that are forced there. */
  readonly forced: readonly number[]
  /** Mask of the tokens that may come there. Shape [W]. */
  readonly mask: Uint32Array
}

export interface WalkOptions {
  readonly vocabulary: Vocabulary
  /** Null if any text is allowed, and only patterns are searched in it. */
  readonly matcher: Matcher | null
  /** The last tokens of the prompt: forced tokens depend on its last 64 bytes or so. */
  readonly promptTail: readonly number[]
  /** Number of bytes at the start that write the end of the prompt again. */
  readonly prefixLength: number
  /** The tokenizer, for forced tokens; null: a token is forced only if the mask allows no other. */
  readonly encode: Encode | null
  /**
   * Completes the text within `left` tokens and without banned words; null if there is no such
   * rule.
   */
  readonly closing: Closing | null
  /** Number of tokens that may be written. */
  readonly left: number
  /** Whether forced tokens are accepted without logits. */
  readonly takesForced: boolean
  /**
   * Ids that the request allows; a forced token outside of them is drawn like any other. Shape [W].
   */
  readonly allowed: Uint32Array | null
  readonly stopTokenIds: ReadonlySet<number>
  /** Whether a stop string may end the text inside a token. */
  readonly marksEnds: boolean
  readonly stopRegexes: StopRegexes | null
  /** Whether the text is JSON, so that it ends with the bracket that matches its first one. */
  readonly isJson: boolean
}

/** Maximum tokens of a run in one look, so that no step waits long. */
const maxRun = 128

export class Walk {
  readonly options: WalkOptions
  private left: number
  /** The forced tokens that come next, see `mask/prompt/forced.ts`. */
  private ahead: number[] = []
  /** The last tokens of prompt and text. */
  private tail: number[]
  /**
   * The byte that closes the text; −1 if it is unknown or there is none. Undefined: no token has
   * been written.
   */
  private closer: number | undefined
  private known: Habits | undefined
  private readonly detokenizer: Detokenizer | null
  private readonly watch: RegexWatch | null

  constructor(options: WalkOptions) {
    this.options = options
    this.left = options.left
    this.tail = options.promptTail.slice(-tailBytes)
    const { stopRegexes, vocabulary, prefixLength } = options
    const hasPatterns = stopRegexes !== null && stopRegexes.patterns.length > 0
    this.detokenizer = hasPatterns ? new Detokenizer(vocabulary, { skip: prefixLength }) : null
    this.watch = hasPatterns ? new RegexWatch(stopRegexes) : null
  }

  /** Whether the text is complete as it begins. */
  get isAccepting(): boolean {
    return this.options.matcher?.isAccepting() ?? true
  }

  /** Whether the text may not have any tokens. */
  get isExhausted(): boolean {
    return this.options.matcher?.isExhausted() ?? false
  }

  /**
   * Moves by a token that was drawn from the mask, unless the rule for closing forbids it. `ahead`:
   * −1 moves no further. Otherwise the walk also accepts the forced tokens that follow, and guesses
   * at most `ahead` tokens after them.
   */
  accept(token: number, ahead = -1): Verdict | Misfit {
    const { closing } = this.options
    const why = closing?.misfitting(token, this.left - 1) ?? null
    if (closing && why !== null) return { why, next: closing.next }
    const verdict = this.move(token)
    if (ahead < 0) return verdict
    const run = this.runBehind(verdict)
    const isOver = (run.at(-1) ?? verdict).isExhausted
    const draft = ahead > 0 && !isOver ? this.guess(Math.min(ahead, this.left - 1)) : undefined
    return { ...verdict, ...(run.length > 0 && { run }), ...(draft && { draft }) }
  }

  /**
   * Returns guesses from the text's habits, up to the first token that the constraint refuses;
   * undefined if there are none.
   */
  private guess(bound: number): GuessedTokens | undefined {
    const { matcher, vocabulary, stopTokenIds } = this.options
    if (!matcher) return undefined
    const habits = this.habits()
    const ahead = matcher.fork()
    const tokens: number[] = []
    const forced: boolean[] = []
    let run: readonly number[] = []
    while (tokens.length < bound) {
      if (run.length === 0) run = this.forcedAt(ahead, tokens)
      const isForced = run.length > 0
      const candidates = isForced ? run.slice(0, 1) : habits.guesses(tokens, forced)
      const token = candidates.find(
        (id) => !vocabulary.isEnd(id) && !stopTokenIds.has(id) && this.permits(id) && ahead.accept(id),
      )
      if (token === undefined) break
      run = run.slice(1)
      tokens.push(token)
      forced.push(isForced)
    }
    return forced.includes(false) ? { tokens, forced } : undefined
  }

  /** Returns the habits. They are created at the first call, from the text so far. */
  private habits(): Habits {
    const { vocabulary, encode, isJson } = this.options
    this.known ??= new Habits(vocabulary, isJson ? encode : null, this.tail)
    return this.known
  }

  /** Accepts the canonical tokens that are forced next. */
  private runBehind(verdict: Verdict): RunStep[] {
    const run: RunStep[] = []
    const { encode, takesForced } = this.options
    if (encode === null || !takesForced || this.ahead.length > 0) return run
    for (let isOver = verdict.isExhausted; !isOver && run.length < maxRun && this.left > 0; ) {
      if (this.ahead.length === 0) this.ahead = this.forced()
      if (this.ahead.length === 0 || !this.permits(this.ahead[0])) break
      const step = this.step(this.ahead[0])
      run.push(step)
      isOver = step.isExhausted
    }
    // The tokens that are forced after a cut are computed again, as a replayed walk would do.
    if (run.length === maxRun) this.ahead = []
    return run
  }

  /** Accepts a forced token. */
  private step(token: number): RunStep {
    return { token, ...(this.endsBy(token) ? ended : this.move(token, true)) }
  }

  /**
   * Accepts the forced tokens, and writes the mask of the tokens that may come next into `row`.
   * Shape [W].
   */
  look(row: Uint32Array): Outlook {
    const run: RunStep[] = []
    const fillUs: number[] = []
    for (;;) {
      const start = performance.now()
      const kind = this.fill(row)
      fillUs.push(1000 * (performance.now() - start))
      const token = onlyToken(row)
      const isTaken = kind === "single" && this.options.takesForced && this.left > 0 && this.permits(token)
      const isCut = isTaken && run.length === maxRun
      // The tokens that are forced after a cut are computed again, as a replayed walk would do.
      if (isCut) this.ahead = []
      if (!isTaken || isCut) return { run, isCut, kind, fillUs, ...this.place() }
      const step = this.step(token)
      run.push(step)
      if (step.isExhausted)
        return { run, isCut: false, kind, fillUs, maskId: undefined, least: 0, closer: -1 }
    }
  }

  /** Returns the fields of an outlook other than its mask. */
  private place(): Pick<Outlook, "maskId" | "least" | "closer"> {
    return { maskId: this.maskId(), least: this.options.matcher?.least() ?? 0, closer: this.closer ?? -1 }
  }

  /**
   * Moves by a token that the walk has accepted before, so that the same tokens are forced from
   * there on.
   */
  replay(token: number, scratch: Uint32Array): void {
    const { encode, takesForced, allowed } = this.options
    const mayWait = encode !== null && (!takesForced || allowed !== null)
    if (mayWait && this.ahead.length === 0) this.fill(scratch)
    this.move(token)
  }

  /** Returns the allowed part of a proposal, with the forced tokens in between. */
  draft(proposed: readonly number[], bound: number): DraftedTokens {
    const { vocabulary, matcher, stopTokenIds, allowed, takesForced } = this.options
    return draftAlong(proposed, {
      vocabulary,
      matcher: matcher?.fork() ?? null,
      stopTokenIds,
      allowed,
      bound,
      isForcing: takesForced && matcher !== null,
      forcedAt: (ahead, drafted) => this.forcedAt(ahead, drafted),
    })
  }

  /**
   * Returns which tokens may follow `tokens`. Throws an internal error if `tokens` are not allowed.
   */
  glimpse(tokens: readonly number[]): Glimpse {
    const { matcher, vocabulary } = this.options
    const mask = vocabulary.freeRow.slice()
    if (!matcher) return { isOnly: false, forced: [], mask }
    const ahead = matcher.fork()
    if (!tokens.every((token) => ahead.accept(token)))
      throw new Error("internal: a draft left the constraint")
    const isOnly = ahead.fillMask(mask) === "single"
    return { isOnly, forced: isOnly ? [onlyToken(mask)] : this.forcedAt(ahead, tokens), mask }
  }

  private move(token: number, isForced = false): Verdict {
    const { matcher, closing } = this.options
    const start = performance.now()
    const ends = this.endsInside(token)
    if (this.closer === undefined) this.closer = this.closerOf(token)
    if (matcher && !matcher.accept(token)) throw new Error(`internal: token ${token} left the constraint`)
    closing?.accept(token)
    this.left--
    this.ahead.shift()
    this.tail.push(token)
    this.known?.push(token, isForced)
    if (this.tail.length > 4 * tailBytes) this.tail = this.tail.slice(-tailBytes)
    const points = this.read(token)
    const acceptUs = 1000 * (performance.now() - start)
    const { isAccepting, isExhausted } = this
    return { isAccepting, isExhausted, acceptUs, ...(ends && { ends }), ...(points && { points }) }
  }

  /** Returns whether this token ends the text, regardless of the grammar. */
  private endsBy(token: number): boolean {
    const { vocabulary, stopTokenIds, matcher } = this.options
    return vocabulary.isEnd(token) || (stopTokenIds.has(token) && (!matcher || matcher.isAccepting()))
  }

  /**
   * Returns the byte that closes a JSON text which begins with `token`; undefined if the token
   * begins with white space.
   */
  private closerOf(token: number): number | undefined {
    const { isJson, vocabulary, prefixLength } = this.options
    if (!isJson || prefixLength > 0) return -1
    const first = vocabulary.bytes(token).find((byte) => byte > 0x20)
    if (first === undefined) return undefined
    // The codes of } and ] are those of { and [ plus 2.
    return first === 0x7b || first === 0x5b ? first + 2 : -1
  }

  private permits(token: number): boolean {
    const { allowed } = this.options
    return allowed === null || isAllowed(allowed, token)
  }

  /**
   * Fills the row with the next mask. It returns `single` if the mask has one bit, and also if a
   * token is forced although others could spell its bytes.
   */
  private fill(row: Uint32Array): RowKind {
    const kind = this.ahead.length > 0 ? "single" : this.fillWhole(row)
    if (kind === "masked") this.ahead = this.forced()
    if (this.ahead.length === 0) return kind
    row.fill(0)
    row[this.ahead[0] >>> 5] = 1 << (this.ahead[0] & 31)
    return "single"
  }

  private fillWhole(row: Uint32Array): RowKind {
    const { matcher, vocabulary, stopTokenIds } = this.options
    let kind: RowKind = "free"
    if (matcher) kind = matcher.fillMask(row)
    else row.set(vocabulary.freeRow)
    if (stopTokenIds.size === 0 || !this.isAccepting) return kind
    // A stop id ends a complete text, as an end id does. Before that it is the text that it spells,
    // or not allowed.
    for (const id of stopTokenIds) row[id >>> 5] |= 1 << (id & 31)
    return matcher ? "masked" : "free"
  }

  private maskId(): number | undefined {
    const { matcher, stopTokenIds } = this.options
    if (stopTokenIds.size > 0 || this.ahead.length > 0) return undefined
    return matcher ? stateId(matcher) : FreeMask
  }

  /** Returns the tokens that are forced next and fit into the budget. */
  private forced(): number[] {
    const { matcher, closing } = this.options
    const tokens = matcher ? this.forcedAt(matcher, []) : []
    return closing?.fitsAll(tokens, this.left) === false ? [] : [...tokens]
  }

  /** Returns the tokens that are forced after `drafted`, in the state of `matcher`. */
  private forcedAt({ fsm, state }: Matcher, drafted: readonly number[]): readonly number[] {
    const { encode } = this.options
    return encode ? canonicalTokens(fsm, state, [...this.tail, ...drafted].slice(-tailBytes), encode) : []
  }

  /**
   * Returns the byte counts within `token` after which the text is complete; undefined unless stop
   * strings may end the text inside a token.
   */
  private endsInside(token: number): number[] | undefined {
    const { matcher, vocabulary, marksEnds } = this.options
    if (!matcher || !marksEnds) return undefined
    const bytes = vocabulary.bytes(token)
    const ends: number[] = []
    let { state } = matcher
    for (let at = 0; at < bytes.length; at++) {
      state = matcher.fsm.advance(state, bytes.subarray(at, at + 1))
      if (matcher.fsm.isAccepting(state)) ends.push(at + 1)
    }
    return ends
  }

  private read(token: number): PatternPoint[] | undefined {
    const { watch, detokenizer } = this
    if (!watch || !detokenizer) return undefined
    return Array.from(detokenizer.push(token), (point) => {
      readPoint(watch, point)
      return { depth: watch.depth, found: watch.found }
    })
  }
}

/** Reads a code point. Throws GrammarError if a pattern's automaton exceeds its limits. */
function readPoint(watch: RegexWatch, point: string): void {
  try {
    watch.push(point)
  } catch (error) {
    if (!(error instanceof GrammarError)) throw error
    throw new GrammarError(error.kind, error.path, `stop_regex: ${error.message}`)
  }
}

const ended = { isAccepting: true, isExhausted: true }

/** Mask id of the row that all unconstrained sequences share. */
export const FreeMask = 0
const machineIds = new WeakMap<TokenMachine, number>()
let nextMachineId = (): number => ++machineCount
let machineCount = 0

/** Sets the source of machine ids, if several threads have machines. */
export function shareMachineIds(next: () => number): void {
  nextMachineId = next
}

/**
 * Returns the id of a state's mask, which depends only on the machine and the state. Undefined once
 * the ids are used up.
 */
function stateId({ fsm, state }: Matcher): number | undefined {
  let id = machineIds.get(fsm)
  if (id === undefined) {
    id = nextMachineId()
    machineIds.set(fsm, id)
  }
  return id < 2 ** 21 ? id * 2 ** 32 + state : undefined
}
