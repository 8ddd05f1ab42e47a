/**
 * Witnesses: one short text of each conjunction that has a value, to complete texts with.
 *
 * A witness is a scalar if there is one, else the first container whose parts all have lower rank,
 * so that the recursion ends.
 */
import { checkLimit, fixedBounds, type Limits, limitError, placed } from "../errors.ts"
import { leastBytes, shortestCompletion } from "../lexeme/completion.ts"
import { shortStrings } from "../lexeme/string/string.ts"
import { Dead, lexemes } from "../lexeme/table.ts"
import { utf8 } from "../utf8.ts"
import { arrayLanguage } from "./array/array.ts"
import type { ArraySpec } from "./array/arrayspec.ts"
import type { FiniteValues } from "./finitevalues.ts"
import { ObjectLanguage } from "./object/object.ts"
import type { ObjectSpec } from "./object/objectspec.ts"
import { readJson } from "./read/reader.ts"
import { type Demands, type Values, wholeValues } from "./values.ts"

const decoder = new TextDecoder()
const noText = new Uint8Array(0)
/**
 * With fewer excluded values, a search among the states finds the next one. Its result is certainly
 * the shortest.
 */
const FewExcluded = 4
/**
 * The greatest depth of nested values that are written by recursion. Deeper values are written
 * first, on their own.
 */
const MaxRecursion = 64
/** After this many integers in a row without a value, the search for integers ends. */
const MaxMisses = 1_000

/** Values and containers: the sources of a text of a conjunction. */
export interface Containers extends Values {
  readonly limits: Limits
  /**
   * Returns the rank of a productive conjunction: it has a value all of whose parts have lower
   * rank.
   */
  rank(conjunction: number): number
  objectsOf(conjunction: number): readonly ObjectSpec[]
  arraysOf(conjunction: number): readonly ArraySpec[]
}

/** Thrown when the recursion is too deep, and caught where it began. */
class Deferred {
  readonly conjunction: number

  constructor(conjunction: number) {
    this.conjunction = conjunction
  }
}

export class Witnesses {
  private readonly language: Containers
  private readonly demands: Demands
  private readonly finite: FiniteValues
  private readonly known = new Map<number, string>()
  /** The number of values around the one that is being written. */
  private depth = 0
  /** By conjunction: the short scalars found so far. */
  private readonly scalars = new Map<
    number,
    { found: { text: string; fact: number }[]; more: Generator<string> }
  >()

  constructor(language: Containers, finite: FiniteValues) {
    this.language = language
    this.demands = wholeValues(language, (conjunction) => language.isProductive(conjunction))
    this.finite = finite
  }

  /** Returns a text of `conjunction`. Throws `limit` if it nests too deep or gets too long. */
  of(conjunction: number): string {
    const text = this.known.get(conjunction)
    if (text !== undefined) return text
    if (this.depth === 0) return this.outermost(conjunction)
    if (this.depth === MaxRecursion) throw new Deferred(conjunction)
    return this.write(conjunction)
  }

  /**
   * Writes a text. Values that are too deep are written first, then the values around them are
   * begun again.
   */
  private outermost(conjunction: number): string {
    const pending = [conjunction]
    const { limits } = this.language
    for (;;) {
      const next = pending[pending.length - 1]
      try {
        const text = this.write(next)
        pending.pop()
        if (pending.length === 0) return text
      } catch (error) {
        if (!(error instanceof Deferred)) throw error
        pending.push(error.conjunction)
        if (pending.length * MaxRecursion > limits.stackDepth) {
          throw limitError(
            limits,
            "stackDepth.shortest",
            pending.length * MaxRecursion,
            this.language.all.pathOf(next),
          )
        }
      }
    }
  }

  private write(conjunction: number): string {
    this.depth++
    let text: string
    try {
      text = this.make(conjunction)
    } catch (error) {
      throw placed(error, this.language.all.pathOf(conjunction))
    } finally {
      this.depth--
    }
    // Values that contain each other twice double in length at every level.
    checkLimit(fixedBounds, "witnessUnits", text.length, this.language.all.pathOf(conjunction))
    this.known.set(conjunction, text)
    return text
  }

  private make(conjunction: number): string {
    const other = this.otherValue(conjunction)
    if (other !== null) return other
    let shortest: Uint8Array | null = null
    // Texts that are surely longer are not computed. Beside `null` there may be a string of a
    // million characters.
    const scalars = this.language.scalars.lexemes(conjunction).sort((a, b) => leastBytes(a) - leastBytes(b))
    for (const lexeme of scalars) {
      if (shortest !== null && leastBytes(lexeme) >= shortest.length) break
      const { bytes } = shortestCompletion(lexeme)
      if (shortest === null || bytes.length < shortest.length) shortest = bytes
    }
    if (shortest !== null) return decoder.decode(shortest)
    for (const rank of [this.rankOf(conjunction), this.language.rank(conjunction)]) {
      // A scalar has no parts, so its rank does not matter.
      const isLower = (part: number) =>
        part !== this.language.all.never &&
        this.language.isProductive(part) &&
        (this.rankOf(part) < rank || this.language.scalars.hasValue(part))
      for (const spec of this.language.arraysOf(conjunction)) {
        const start = arrayLanguage(spec, this.language, "", isLower).start()
        // Items that must differ take much work, so the length of the text is checked first.
        if (start !== null && spec.unique && spec.min > 1)
          this.checkItems(spec, this.language.all.pathOf(conjunction))
        if (start !== null) return `[${start.finish(1, noText)}`
      }
      for (const spec of this.language.objectsOf(conjunction)) {
        const start = new ObjectLanguage(spec, this.language, "", isLower, this.demands).start()
        if (start !== null) return `{${start.finish(1, noText)}`
      }
    }
    throw new Error(`internal: no witness for conjunction ${conjunction}`)
  }

  private checkItems({ items, min }: ArraySpec, path: string): void {
    let length = 0
    for (const [i, item] of items.entries()) {
      const count = i < items.length - 1 ? 1 : min - i
      if (i >= min || count <= 0) break
      length += count * this.of(item).length
      checkLimit(fixedBounds, "witnessUnits", length, path)
    }
  }

  /**
   * Returns a text of a conjunction with excluded values, from a list of values without the
   * exclusions: all values, or short scalars. Returns null if there is no such list.
   */
  private otherValue(conjunction: number): string | null {
    const excluded = new Set(
      this.language.all.factsOf(conjunction).filter((id) => this.language.all.isExclusion(id)),
    )
    if (excluded.size < FewExcluded) return null
    const lasting = this.language.all.withoutExclusions(conjunction)
    return this.finite.shortestOther(lasting, excluded) ?? this.otherScalar(lasting, excluded)
  }

  private otherScalar(conjunction: number, excluded: ReadonlySet<number>): string | null {
    let list = this.scalars.get(conjunction)
    if (list === undefined) {
      list = { found: [], more: this.shortScalars(conjunction) }
      this.scalars.set(conjunction, list)
    }
    const { found, more } = list
    try {
      for (let i = 0; ; i++) {
        if (i === found.length) {
          const next = more.next()
          if (next.done === true) return null
          const fact = this.language.all.fact({
            kind: "equals",
            value: readJson(next.value),
            positive: false,
          })
          found.push({ text: next.value, fact })
        }
        if (!excluded.has(found[i].fact)) return found[i].text
      }
    } catch (error) {
      // A generator that has thrown yields no more texts. The next call begins again.
      this.scalars.delete(conjunction)
      throw error
    }
  }

  /** Yields texts of small integers of `conjunction`, or else of short strings. */
  private *shortScalars(conjunction: number): Generator<string> {
    const lexeme = this.language.scalars.numberLexeme(conjunction)
    for (let i = 0, misses = 0; lexeme !== Dead && misses < MaxMisses; i++, misses++) {
      if (lexemes.tagAfter(lexeme, utf8(`${i}`)) === 0) continue
      yield `${i}`
      misses = -1
    }
    const expr = this.language.scalars.strings.expr(conjunction)
    if (expr !== null) for (const text of shortStrings(expr)) yield JSON.stringify(text)
  }

  /**
   * Returns the rank without the facts that reading added: that unique items differ from those
   * before them.
   */
  private rankOf(conjunction: number): number {
    return this.language.rank(this.language.all.withoutExclusions(conjunction))
  }
}
