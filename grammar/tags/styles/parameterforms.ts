/**
 * The forms in which the arguments of a block are written: the pieces around keys and values, and
 * what keys and values must not contain.
 */
import type { Rules } from "../../ebnf/rules.ts"
import type { Step } from "../../frame.ts"
import { Types } from "../../json/facts/conjunction.ts"
import { exprs } from "../../lexeme/expr/expr.ts"
import { exprLexeme } from "../../lexeme/raw.ts"
import type { Spelling } from "../../lexeme/respelled.ts"
import { beforeToken } from "./literal.ts"
import { wireTerm } from "./lower.ts"
import { pythonSpelling } from "./python.ts"
import type { JsonType, Parameter } from "./style.ts"
import { firstText, optional, type Part, splitParameter, type Wire, wire } from "./wire.ts"

/** A form as the ways to begin its pieces. */
interface FormSteps {
  /** Bits of the types whose values are written raw. */
  readonly rawTypes: number
  /** Bits of the types that are written in this form. */
  readonly types: number
  readonly between: readonly Step[]
  /** The closing piece, with the padding that may precede it. */
  readonly close: readonly Step[]
  /** The closing piece after a value that is not raw. */
  readonly closeValue: readonly Step[]
  /**
   * The texts with which the closing piece of a raw value begins, and the rest of the piece after
   * them.
   */
  readonly ends: readonly string[]
  readonly rest: readonly Step[] | null
}

/** The parts that the languages of all tools in one block share. */
export interface ParameterForms {
  /** The text before a key: before the first one, and before the others. */
  readonly open: readonly Step[]
  readonly next: readonly Step[]
  readonly forms: readonly FormSteps[]
  /** Text that may directly precede and follow a value; null for none. */
  readonly padding: number | null
  /** Whether white space around elements is as requested, instead of as in the style. */
  readonly isSpaced: boolean
  /** White space that may precede a value that is not raw; null for none. */
  readonly space: number | null
  /** The spelling of other values, if it is not JSON. */
  readonly spelling: Spelling | null
  /** Text that may replace the arguments if there are none. */
  readonly none: readonly Step[]
  /**
   * Texts that keys must not contain, and texts that strings must not contain, inside other values
   * as well.
   */
  readonly keyExcludes: readonly string[]
  readonly excludes: readonly string[]
}

/**
 * Returns the pieces of a style's parameters, for any tool. `controls` are its control tokens.
 * `mostSpace` is the most characters of white space around elements, and around values that are not
 * raw; null for the line ends of the style.
 */
export function parameterForms(
  rules: Rules,
  parameter: Parameter,
  controls: readonly string[],
  mostSpace: number | null = null,
): ParameterForms {
  const spaces = (least: number) => exprs.loop(spaceCharacters, least, mostSpace ?? 0)
  /** `edge` says where white space may be. */
  const stepsOf = (form: Wire, edge = ""): readonly Step[] => {
    const rule = rules.declare("piece of a parameter")
    const gap = rules.terms.expr(spaces(0))
    const parts = (mostSpace !== null && edge.includes("end") ? withoutLineEnd(form) : form).map((part) =>
      mostSpace !== null && isLineEnd(part) ? gap : wireTerm(rules, [part]),
    )
    if (mostSpace !== null && edge.includes("start")) parts.unshift(gap)
    if (mostSpace !== null && edge.includes("end")) parts.push(gap)
    rules.define(rule, [], () => rules.terms.concat(...parts))
    const grammar = rules.grammar(rule, { key: () => "", title: "piece of a parameter" })
    if (grammar === null) throw new Error("internal: a piece of a parameter has no text")
    return grammar.start
  }
  const { padding, none, between: separator = "", notation = "bare" } = parameter
  const endsOf = (close: Wire): { ends: readonly string[]; rest: readonly Step[] | null } => {
    const [first, ...others] = close
    const [end, left] = first?.kind === "text" ? beforeToken(rules, first.text) : ["", ""]
    if (end === "") return { ends: [], rest: null }
    const rest = [...wire`${left}`, ...others]
    const ends = padding === undefined ? [end] : [end, padding + end]
    return { ends, rest: rest.length === 0 && mostSpace === null ? null : stepsOf(rest, "end") }
  }
  const pad = padding === undefined ? [] : wire`${optional(padding)}`
  const split = parameter.forms.map(({ wire: form }) => splitParameter(form))
  // A value ends where its closing tag is complete; the line end after that tag is not part of it.
  // A tag that begins an argument must not occur in a string: otherwise a string without an end
  // would include the next argument.
  const tags = notation === "python" ? [] : split.flatMap(({ open, close }) => [open, close].map(tagOf))
  const closesOf = (form: Wire) => {
    const close = stepsOf([...pad, ...form], "end")
    return { close, closeValue: mostSpace === null ? close : stepsOf(form, "start end") }
  }
  const noneSteps = (): readonly Step[] => {
    if (mostSpace === null) return none === undefined ? [] : stepsOf(wire`${none}`)
    return mostSpace === 0 ? [] : [{ lexeme: exprLexeme(spaces(1)), frames: [] }]
  }
  return {
    open: stepsOf(split[0].open, "start"),
    next: stepsOf(separator === "" ? split[0].open : [...wire`${separator}`, ...split[0].open]),
    forms: split.map(({ between, close }, i) => ({
      types: typesOf(parameter.forms[i].types),
      rawTypes: notation === "bare" ? Types.string & typesOf(parameter.forms[i].types) : 0,
      between: stepsOf(between),
      ...closesOf(close),
      ...endsOf(mostSpace === null ? close : withoutLineEnd(close)),
    })),
    spelling: notation === "python" ? pythonSpelling : null,
    padding: padding === undefined ? null : exprLexeme(exprs.literal(padding)),
    isSpaced: mostSpace !== null,
    space: mostSpace === null || mostSpace === 0 ? null : exprLexeme(spaces(1)),
    none: noneSteps(),
    keyExcludes: ["\n", ...new Set(split.map(({ between }) => firstText(between)[0])), ...controls],
    excludes: [...new Set([...tags.filter((tag) => tag !== ""), ...controls])],
  }
}

const spaceCharacters = exprs.codePoints([9, 10, 13, 13, 0x20, 0x20])

function isLineEnd(part: Part): boolean {
  return part.kind === "optional" && part.wire.every((inner) => inner.kind === "text" && inner.text === "\n")
}

/** Returns the form without the line end that may follow it. */
function withoutLineEnd(form: Wire): Wire {
  const last = form[form.length - 1]
  if (last === undefined) return form
  if (isLineEnd(last)) return form.slice(0, -1)
  if (last.kind !== "text") return form
  return [...form.slice(0, -1), ...wire`${last.text.replace(/\n+$/, "")}`]
}

/** Returns the fixed text with which a piece begins. */
function tagOf(form: Wire): string {
  return form.length === 0 ? "" : firstText(form).trimEnd()
}

function typesOf(types: readonly JsonType[]): number {
  return types.reduce((bits, type) => bits | Types[type], 0)
}
