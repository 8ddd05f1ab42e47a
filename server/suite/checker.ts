/**
 * Does a constraint accept a text, and if not, where does the text leave it and what was expected
 * there?
 *
 * No model is needed: over the 256 single bytes as vocabulary a token is a byte.
 */
import { type Grammar, Matcher, TokenFsm, type TokenMachine, Vocabulary } from "../../runtime/index.ts"

export interface Verdict {
  accepted: boolean
  /** Whether the whole text is the beginning of an accepted one. */
  prefix: boolean
  /**
   * Byte at which the text leaves the constraint; its length when it only ends too early. Token by
   * token: the first byte of the token that is not allowed.
   */
  offset: number
  line: number
  /** Characters from the start of the line, from 1. */
  column: number
  expected: { what: string; example: string; path: string }[]
  /** Token by token: how many tokens the text has, and how many of them are allowed. */
  tokens?: number
  allowed?: number
}

/**
 * Called at the start of a text with null, and after each byte or token with the bytes that it is.
 */
export type Trace = (read: Uint8Array | null, matcher: Matcher) => void

/**
 * Reads texts byte by byte. The machine is over any vocabulary: `byteMachine` makes one that needs
 * none.
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
}

/**
 * Whether the constraint names tokens of the machine's vocabulary: then a text that spells a
 * control token is that token.
 */
export function readsTokens(machine: TokenMachine): boolean {
  return machine.grammar?.readsTokens === true
}

/** `grammar` over single bytes, which count for no tokens. */
export function byteMachine(grammar: Grammar): TokenFsm {
  return new TokenFsm(grammar, byteVocabulary(), { ignoresBudgets: true })
}

/** A token for each byte, and one end. */
export function byteVocabulary(): Vocabulary {
  const bytes = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte))
  return Vocabulary.fromBytes([...bytes, null], { width: 257, endIds: [256] })
}

/** Line and column of a byte, both from 1. */
export function place(bytes: Uint8Array, offset: number): { line: number; column: number } {
  const before = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(0, offset))
  const line = before.slice(before.lastIndexOf("\n") + 1)
  return { line: before.split("\n").length, column: [...line].length + 1 }
}
