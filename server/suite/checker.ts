/**
 * Checks whether a constraint accepts a text, and if not, finds where the text leaves it and what
 * was expected there.
 *
 * No model is needed: with the 256 single bytes as vocabulary, each token is a byte.
 */
import { type Grammar, Matcher, TokenFsm, type TokenMachine, Vocabulary } from "../../runtime/index.ts"

export interface Verdict {
  accepted: boolean
  /** Whether the whole text is a prefix of an accepted one. */
  prefix: boolean
  /**
   * Offset of the byte at which the text leaves the constraint, or the length of a text that only
   * ends too early. With tokens: the first byte of the token that is not allowed.
   */
  offset: number
  line: number
  /** Column in characters, from 1. */
  column: number
  expected: { what: string; example: string; path: string }[]
  /** With tokens: how many tokens the text has, and how many of them are allowed. */
  tokens?: number
  allowed?: number
}

/** Called with null at the start of a text, and then with the bytes of each byte or token read. */
export type Trace = (read: Uint8Array | null, matcher: Matcher) => void

/**
 * Reads texts byte by byte. The machine may have any vocabulary; `byteMachine` makes one from
 * single bytes.
 */
export class TextChecker {
  private readonly matcher: Matcher

  constructor(machine: TokenMachine) {
    this.matcher = new Matcher(machine)
  }

  check(text: string, trace?: Trace): Verdict {
    const bytes = new TextEncoder().encode(text)
    const { matcher } = this
    matcher.reset()
    trace?.(null, matcher)
    let offset = 0
    for (; offset < bytes.length; offset++) {
      const byte = bytes.subarray(offset, offset + 1)
      if (!matcher.acceptBytes(byte)) break
      trace?.(byte, matcher)
    }
    const prefix = offset === bytes.length
    const accepted = prefix && this.matcher.isAccepting()
    const expected = accepted ? [] : this.matcher.explain()
    return { accepted, prefix, offset, ...place(bytes, offset), expected }
  }

  /** Returns a shortest accepted text. Throws GrammarError if none is found within its bounds. */
  shortest(): string {
    this.matcher.reset()
    return new TextDecoder().decode(this.matcher.shortest())
  }
}

/**
 * Returns whether the constraint names tokens of the machine's vocabulary. If so, a text that
 * spells a control token is read as that token.
 */
export function readsTokens(machine: TokenMachine): boolean {
  return machine.grammar?.readsTokens === true
}

/** Returns a machine for `grammar` over single bytes, which do not count as tokens for budgets. */
export function byteMachine(grammar: Grammar): TokenFsm {
  return new TokenFsm(grammar, byteVocabulary(), { ignoresBudgets: true })
}

/** Returns a vocabulary with a token for each byte, and one end token. */
export function byteVocabulary(): Vocabulary {
  const bytes = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte))
  return Vocabulary.fromBytes([...bytes, null], { width: 257, endIds: [256] })
}

/** Returns line and column of a byte, both from 1. */
export function place(bytes: Uint8Array, offset: number): { line: number; column: number } {
  const before = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(0, offset))
  const line = before.slice(before.lastIndexOf("\n") + 1)
  return { line: before.split("\n").length, column: [...line].length + 1 }
}
