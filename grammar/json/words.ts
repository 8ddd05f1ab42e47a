/**
 * Values of a schema in words, for messages: `an integer from 1 to 99`, `a string that matches
 * ^[a-z]+$ with at most 10 characters`, `"red" or "green"`.
 *
 * The words come from the keywords that hold in any case. Where alternatives or negations add more,
 * the words are true but may say less than the schema.
 */
import { describeSample, type Expectation } from "../frame.ts"
import { toText } from "../lexeme/number/decimal.ts"
import { numbers } from "../lexeme/number/number.ts"
import { Dead, lexemes } from "../lexeme/table.ts"
import { utf8 } from "../utf8.ts"
import { joined } from "../wording.ts"
import { Types } from "./facts/conjunction.ts"
import type { JsonNode } from "./read/reader.ts"
import type { SchemaNode } from "./refs/refs.ts"
import type { Values } from "./values.ts"

/** Maximum number of values that are listed. */
const MostListed = 8
/** Maximum number of alternatives that are described one by one. */
const MostBranches = 4
/** Maximum number of states that are searched for the beginning of a lexeme. */
const MostStates = 1_000
/** Maximum number of bytes that are read to see whether a text may be the rest of a value. */
const MostBytes = 100_000
/** Maximum UTF-16 units of a pattern or a value in a message. */
const MostUnits = 60

/** The lexeme that is being read: its state, and a shortest way to end it. */
export interface Reading {
  readonly lexeme: number
  readonly sample: string
}

/**
 * Describes the value that is being read, which satisfies one of `candidates`. Returns null if the
 * lexeme belongs to none of them, or to several that have different words.
 */
export function expectValue(
  values: Values,
  candidates: readonly number[],
  reading: Reading,
): Expectation | null {
  const { lexeme, sample } = reading
  let within: Expectation | null = null
  let isAmbiguous = false
  for (const candidate of new Set(candidates)) {
    if (values.knownSteps(candidate).length === 0) continue
    for (const type of [Types.string, Types.number, Types.boolean | Types.null]) {
      const path = values.all.pathOf(candidate)
      for (const start of values.scalars.lexemes(candidate, type)) {
        const expected = (what: string) => ({ what, example: sample, path })
        if (start === lexeme) return expected(wordsOf(values, candidate, type))
        if (!lexemes.leadsTo(start, lexeme, MostStates)) continue
        const what = restOf(values, candidate, type, reading)
        isAmbiguous ||= within !== null && within.what !== what
        within ??= expected(what)
      }
    }
  }
  return isAmbiguous ? null : within
}

/** Describes the lexeme that ends a whole text. */
export function expectRoot(values: Values, conjunction: number, reading: Reading): Expectation {
  const { sample } = reading
  return (
    expectValue(values, [conjunction], reading) ?? { what: describeSample(sample), example: sample, path: "" }
  )
}

/** Describes the rest of a scalar that has begun. */
function restOf(values: Values, conjunction: number, type: number, { lexeme, sample }: Reading): string {
  const listed = listOf(values, conjunction, type)
  if (listed !== null) {
    return `the rest of ${joined(listed.filter((text) => mayEndAs(lexeme, text)).map(cut))}`
  }
  const words = wordsOf(values, conjunction, type)
  if (type !== Types.string) return `the rest of ${words}`
  if (sample !== '"') return `more of ${words}`
  return isOnlyQuote(lexeme) ? `the closing quote of ${words}` : `more of ${words}, or its closing quote`
}

/**
 * Whether a text that has begun may be this one. It may if that takes too long to see, which only
 * texts that repeat themselves do.
 */
export function mayEndAs(lexeme: number, text: string): boolean {
  const bytes = utf8(text)
  let count = 0
  for (let start = 1; start <= bytes.length; start++) {
    let end = lexeme
    for (let at = start; at < bytes.length && end !== Dead; at++) {
      if (++count > MostBytes) return true
      end = lexemes.next(end, bytes[at])
    }
    if (end !== Dead && lexemes.tags[end] !== 0) return true
  }
  return false
}

const Quote = 0x22

/** Whether the string that has begun can only end. */
export function isOnlyQuote(lexeme: number): boolean {
  for (let byte = 0; byte < 256; byte++)
    if (byte !== Quote && lexemes.next(lexeme, byte) !== Dead) return false
  return true
}

/** Returns the values of a scalar type in words. */
function wordsOf(values: Values, conjunction: number, type: number): string {
  const listed = listOf(values, conjunction, type)
  if (listed !== null) return joined(listed.map(cut))
  return alternatives(values, schemasOf(values, conjunction), type).join(" or ")
}

/**
 * Returns the words of the schemas, or if they say nothing but the type, those of the branches of
 * the first few alternatives.
 */
function alternatives(values: Values, nodes: readonly SchemaNode[], type: number): string[] {
  const { reader } = values
  const words = type === Types.string ? stringWords(values, nodes) : numberWords(nodes)
  const lists = nodes.flatMap((node) => [...reader.of(node).any, ...reader.of(node).one])
  if (lists.length !== 1 || !["a string", "a number", "an integer"].includes(words)) return [words]
  const fitting = lists[0].filter((branch) => (reader.of(branch).types & type) !== 0)
  if (fitting.length === 0 || fitting.length > MostBranches) return [words]
  const parts = fitting.map((branch) => {
    const all = [...nodes, ...reader.inAnyCase(branch)]
    return type === Types.string ? stringWords(values, all) : numberWords(all)
  })
  return [...new Set(parts)]
}

/** Returns the JSON texts of few values; null if there are many. */
function listOf(values: Values, conjunction: number, type: number): string[] | null {
  const { scalars } = values
  if (type === Types.string) {
    const texts = scalars.strings.texts(conjunction, MostListed)
    return texts === null ? null : texts.map((text) => JSON.stringify(text))
  }
  if (type === Types.number) {
    const isListed = schemasOf(values, conjunction).some(
      (node) => member(node, "enum") ?? member(node, "const"),
    )
    const found = numbers.values(scalars.numbers.of(conjunction), isListed ? MostListed : 1)
    return found === null ? null : found.map(toText)
  }
  return scalars.wordTexts(conjunction)
}

/** Returns the schemas of which every value of the conjunction is a value. */
function schemasOf({ all, reader }: Values, conjunction: number): SchemaNode[] {
  return all.factsOf(conjunction).flatMap((id) => {
    const fact = all.facts[id]
    return fact.kind === "schema" && fact.positive ? reader.inAnyCase(fact.node) : []
  })
}

function numberWords(nodes: readonly SchemaNode[]): string {
  const isInteger = nodes.map(typesIn).some((types) => types.includes("integer") && !types.includes("number"))
  const factors = numbersOf(nodes, "multipleOf")
  const base =
    factors.length > 0 ? `a multiple of ${factors.join(" and ")}` : isInteger ? "an integer" : "a number"
  const low = boundOf(nodes, "minimum", 1)
  const high = boundOf(nodes, "maximum", -1)
  if (low !== null && high !== null && !low.isOpen && !high.isOpen)
    return low.text === high.text
      ? `${base} equal to ${low.text}`
      : `${base} from ${low.text} to ${high.text}`
  const bounds = [
    low && `${low.isOpen ? ">" : "≥"} ${low.text}`,
    high && `${high.isOpen ? "<" : "≤"} ${high.text}`,
  ]
  return [base, bounds.filter(Boolean).join(" and ")].filter(Boolean).join(" ")
}

interface Bound {
  readonly text: string
  readonly isOpen: boolean
}

/** Returns the tightest bound; `sign` is 1 for lower ones. */
function boundOf(nodes: readonly SchemaNode[], keyword: "minimum" | "maximum", sign: 1 | -1): Bound | null {
  const exclusive = keyword === "minimum" ? "exclusiveMinimum" : "exclusiveMaximum"
  let best: Bound | null = null
  const add = (bound: Bound) => {
    const difference = best === null ? 1 : sign * (Number(bound.text) - Number(best.text))
    if (difference > 0 || (difference === 0 && bound.isOpen)) best = bound
  }
  for (const node of nodes) {
    const [closed, open] = [member(node, keyword), member(node, exclusive)]
    // In draft 4 the other keyword is a switch.
    if (closed?.kind === "number") add({ text: closed.text, isOpen: open?.kind === "true" })
    if (open?.kind === "number") add({ text: open.text, isOpen: true })
  }
  return best
}

function stringWords({ reader }: Values, nodes: readonly SchemaNode[]): string {
  const patterns = nodes.flatMap((node) => {
    const { patterns: kept } = reader.of(node)
    const pattern = member(node, "pattern")
    const format = member(node, "format")
    // A format that is only an annotation adds no pattern.
    const isFormat = format?.kind === "string" && kept.length > (pattern === undefined ? 0 : 1)
    return [
      ...(isFormat ? [`in the format ${format.value}`] : []),
      ...(pattern?.kind === "string" ? [`that matches ${cut(pattern.value)}`] : []),
    ]
  })
  const min = Math.max(0, ...nodes.map((node) => reader.of(node).minLength))
  const max = Math.min(...nodes.map((node) => reader.of(node).maxLength))
  const length = countWords(min, max, "character")
  return ["a string", [...new Set(patterns)].join(" and "), length && `with ${length}`]
    .filter(Boolean)
    .join(" ")
}

/** Returns a range of counts in words; "" if any count is allowed. */
export function countWords(min: number, max: number, noun: string): string {
  const nouns = (count: number) => `${count} ${count === 1 ? noun : `${noun}s`}`
  // Larger bounds than a text can have were raised to no bound.
  const isBounded = max < 2 ** 30
  if (min > 0 && isBounded) return min === max ? nouns(min) : `${min} to ${nouns(max)}`
  if (min > 0) return `at least ${nouns(min)}`
  return isBounded ? `at most ${nouns(max)}` : ""
}

function typesIn(node: SchemaNode): string[] {
  const type = member(node, "type")
  if (type?.kind === "string") return [type.value]
  return type?.kind === "array"
    ? type.items.flatMap((each) => (each.kind === "string" ? [each.value] : []))
    : []
}

function numbersOf(nodes: readonly SchemaNode[], keyword: string): string[] {
  const values = nodes.map((node) => member(node, keyword))
  return [...new Set(values.flatMap((value) => (value?.kind === "number" ? [value.text] : [])))]
}

function member({ value }: SchemaNode, keyword: string): JsonNode | undefined {
  return value.kind === "object" ? value.members.get(keyword) : undefined
}

/** Returns the text, or its beginning if it is long. */
export function cut(text: string): string {
  return text.length <= MostUnits ? text : `${text.slice(0, MostUnits - 1)}…`
}
