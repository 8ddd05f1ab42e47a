/**
 * Judges a text by the constraint that the request named, with the grammar that the product itself
 * compiles. Every spelling that RFC 8259 allows is accepted, so that no server is judged by the
 * spelling of its white space, escapes or numbers.
 */
import { compile, type GrammarInput, readJson, toText } from "../../../runtime/index.ts"
import { byteMachine, TextChecker } from "../checker.ts"
import { type Finding, finding, honoured } from "./case.ts"

/** Milliseconds for the compilation of one constraint. */
const compileMs = 10_000

export class Constraint {
  private readonly input: GrammarInput
  private checker: TextChecker | string | null = null

  /** The constraint is compiled when the first text is judged. */
  constructor(input: GrammarInput) {
    this.input = input
  }

  /** `isCut`: the budget ended the text, which is judged as the beginning of an accepted one. */
  judge(text: string, isCut: boolean): Finding {
    this.checker ??= this.compiled()
    if (typeof this.checker === "string") return finding("skipped", `no judge: ${this.checker}`)
    const isJson = this.input.kind === "json"
    // A JSON text may be surrounded by white space.
    const read = isJson ? text.trim() : text
    const { accepted, prefix, offset, expected } = this.checker.check(read)
    if (accepted) return honoured
    if (isCut && text === "")
      return finding("skipped", "the budget ended the answer before its first character: raise --max-tokens")
    if (isCut && prefix) return { ...finding("honoured", "cut off by max_tokens"), truncated: true }
    if (isJson && this.acceptsLast(read)) return finding("honoured", "the answer repeats a name")
    const what = expected.length > 0 ? `: expected ${expected[0].what}` : ""
    const place = prefix ? "the answer ends too early" : "the answer leaves the constraint"
    return finding("ignored", `${place}${what}, at the end of ${quoteBefore(read, offset)}`)
  }

  private compiled(): TextChecker | string {
    try {
      const options = { surface: "conform", limits: { compileMs } } as const
      return new TextChecker(byteMachine(compile(this.input, options).grammar))
    } catch (error) {
      return (error as Error).message
    }
  }

  /**
   * Whether the value satisfies the schema if the last one of equal names counts, as for most
   * readers.
   */
  private acceptsLast(text: string): boolean {
    try {
      const checker = this.checker as TextChecker
      return checker.check(toText(readJson(text, { duplicateKeys: "last" }))).accepted
    } catch {
      return false
    }
  }
}

/** Quotes what stands before a byte, and the character there. */
function quoteBefore(text: string, offset: number): string {
  const before = new TextDecoder().decode(new TextEncoder().encode(text).subarray(0, offset))
  const from = Math.max(0, before.length - 40)
  return `${from > 0 ? "…" : ""}${JSON.stringify(text.slice(from, before.length + 1))}`
}
