/**
 * The scalars of a conjunction: its strings, numbers, booleans and null, one lexeme per type,
 * whatever mix of keywords they come from.
 */
import { exprs } from "../../lexeme/expr/expr.ts"
import { toText } from "../../lexeme/number/decimal.ts"
import { type NumberCell, numbers } from "../../lexeme/number/number.ts"
import { exprLexeme, numberLexeme } from "../../lexeme/raw.ts"
import { exprContent } from "../../lexeme/string/content.ts"
import { stringLexeme } from "../../lexeme/string/string.ts"
import { Dead } from "../../lexeme/table.ts"
import { owned } from "../../tables.ts"
import { AllTypes, type Conjunctions, Types } from "../facts/conjunction.ts"
import type { PlainSchemas } from "../facts/plain.ts"
import type { KeywordReader } from "../read/keywordreader.ts"
import type { JsonNode } from "../read/reader.ts"
import type { SurfacePolicy } from "../spelling.ts"
import { numberAlgebra } from "./numberalgebra.ts"
import { FalseBit, NullBit, ScalarType, TrueBit, wordAlgebra } from "./scalar.ts"
import { StringValues } from "./strings.ts"

const booleanAlgebra = wordAlgebra(Types.boolean)
const nullAlgebra = wordAlgebra(Types.null)
const words: readonly (readonly [bit: number, text: string])[] = [
  [NullBit, "null"],
  [FalseBit, "false"],
  [TrueBit, "true"],
]

/** By bits of `words`; 0 if not made yet. */
const known = owned("words", { lexemes: new Int32Array(8) })

/** Returns the lexeme of some of the words, given by their bits; `Dead` if there are none. */
export function wordLexeme(bits: number): number {
  if (bits !== 0 && known.lexemes[bits] === 0) {
    const texts = words.filter(([bit]) => (bits & bit) !== 0).map(([, text]) => exprs.literal(text))
    known.lexemes[bits] = exprLexeme(exprs.or(texts))
  }
  return known.lexemes[bits]
}

export class Scalars {
  readonly strings: StringValues
  readonly numbers: ScalarType<readonly NumberCell[]>
  private readonly booleans: ScalarType<number>
  private readonly nulls: ScalarType<number>
  private readonly plain: PlainSchemas
  private readonly policy: SurfacePolicy
  private anyNumber: number | undefined
  /** Content automaton of all allowed strings. */
  private readonly allowed: number

  constructor(all: Conjunctions, reader: KeywordReader, plain: PlainSchemas, policy: SurfacePolicy) {
    this.allowed = exprContent(reader.allowedText)
    const context = { all, reader, isPossible: (id: number, type: number) => plain.isPossible(id, type) }
    this.plain = plain
    this.policy = policy
    this.strings = new StringValues(context)
    this.numbers = new ScalarType(numberAlgebra, context)
    this.booleans = new ScalarType(booleanAlgebra, context)
    this.nulls = new ScalarType(nullAlgebra, context)
  }

  /** Whether some scalar satisfies `conjunction`. */
  hasValue(conjunction: number): boolean {
    return (
      this.words(conjunction) !== 0 ||
      (this.plain.isPossible(conjunction, Types.string) && this.strings.hasText(conjunction)) ||
      !numbers.isEmpty(this.numbers.of(conjunction))
    )
  }

  /** Returns the bits of the words of `conjunction`. */
  words(conjunction: number): number {
    return this.nulls.of(conjunction) | this.booleans.of(conjunction)
  }

  /** Returns the words of `conjunction`: some of null, false and true. */
  wordTexts(conjunction: number): string[] {
    const bits = this.words(conjunction)
    return words.filter(([bit]) => (bits & bit) !== 0).map(([, text]) => text)
  }

  /**
   * Returns all scalars of `conjunction`, or null if there are infinitely many or more than `cap`
   * of one type.
   */
  finite(conjunction: number, cap: number): JsonNode[] | null {
    const texts = this.strings.texts(conjunction, cap)
    if (texts === null) return null
    const numerals = numbers.values(this.numbers.of(conjunction), cap)
    if (numerals === null) return null
    const range = { start: 0, end: 0 }
    const values: JsonNode[] = [
      ...texts.map((value): JsonNode => ({ kind: "string", value, ...range })),
      ...numerals.map((value): JsonNode => ({ kind: "number", text: toText(value), ...range })),
    ]
    const bits = this.words(conjunction)
    for (const [bit, text] of words) {
      if ((bits & bit) !== 0) values.push({ kind: text as "null" | "true" | "false", ...range })
    }
    return values
  }

  /**
   * Returns one lexeme for each of `types` that has values. A type all of whose values are allowed
   * has the same lexeme in all schemas.
   */
  lexemes(conjunction: number, types = AllTypes): number[] {
    const { all, possible: plain } = this.plain.ofConjunction(conjunction)
    const possible = plain & types
    const lexemesOf: number[] = []
    const add = (lexeme: number) => {
      if (lexeme !== Dead) lexemesOf.push(lexeme)
    }
    if ((possible & Types.string) !== 0) {
      const content = (all & Types.string) !== 0 ? this.allowed : this.strings.content(conjunction)
      add(stringLexeme(content, this.policy.escapes))
    }
    if ((possible & Types.number) !== 0) add(this.numberLexeme(conjunction))
    const wordTypes = possible & (Types.boolean | Types.null)
    if (wordTypes !== 0) add(wordLexeme(this.wordsOf(conjunction, wordTypes & ~all, wordTypes & all)))
    return lexemesOf
  }

  /** Returns an upper bound on the number of lexemes of `conjunction`, without making them. */
  mostLexemes(conjunction: number): number {
    const { possible } = this.plain.ofConjunction(conjunction)
    const words = (possible & (Types.boolean | Types.null)) === 0 ? 0 : 1
    return words + ((possible & Types.string) === 0 ? 0 : 1) + ((possible & Types.number) === 0 ? 0 : 1)
  }

  /** Returns the lexeme of the numbers of `conjunction`; `Dead` if there are none. */
  numberLexeme(conjunction: number): number {
    if ((this.plain.ofConjunction(conjunction).all & Types.number) === 0)
      return numberLexeme(numbers.start(this.numbers.of(conjunction), this.policy.numbers))
    this.anyNumber ??= numberLexeme(numbers.start(numberAlgebra.all, this.policy.numbers))
    return this.anyNumber
  }

  /**
   * Returns the bits of the words of `conjunction`: all words of the types `all`, and for the types
   * `some` those that it allows.
   */
  private wordsOf(conjunction: number, some: number, all: number): number {
    let bits = 0
    if ((all & Types.boolean) !== 0) bits |= booleanAlgebra.all
    else if ((some & Types.boolean) !== 0) bits |= this.booleans.of(conjunction)
    if ((all & Types.null) !== 0) bits |= nullAlgebra.all
    else if ((some & Types.null) !== 0) bits |= this.nulls.of(conjunction)
    return bits
  }
}
