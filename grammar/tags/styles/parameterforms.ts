/** How the arguments of a block are written: the pieces around a key and a value, and what neither may hold. */
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
import { firstText, optional, splitParameter, type Wire, wire } from "./wire.ts"

/** A form as ways to begin its pieces. */
interface FormSteps {
  /** Bits of the types of which values are written raw. */
  readonly rawTypes: number
  /** Bits of the types that are written in it. */
  readonly types: number
  readonly between: readonly Step[]
  /** What closes it, behind the padding that may stand there. */
  readonly close: readonly Step[]
  /** The texts with which what closes a raw value begins, and what of it is left behind them. */
  readonly ends: readonly string[]
  readonly rest: readonly Step[] | null
}

/** What the languages of all tools in one block share. */
export interface ParameterForms {
  /** What stands before a key: the first one, and the others. */
  readonly open: readonly Step[]
  readonly next: readonly Step[]
  readonly forms: readonly FormSteps[]
  /** What may stand right before a value, as right behind it; null: nothing. */
  readonly padding: number | null
  /** How other values are written, where not as JSON. */
  readonly spelling: Spelling | null
  /** What may stand where there are no arguments. */
  readonly none: readonly Step[]
  /** Texts that no key may hold, and that no string may, within other values too. */
  readonly keyExcludes: readonly string[]
  readonly excludes: readonly string[]
}

/** The pieces of a style's parameters, for any tool. `controls` are its control tokens. */
export function parameterForms(
  rules: Rules,
  parameter: Parameter,
  controls: readonly string[],
): ParameterForms {
  const stepsOf = (form: Wire): readonly Step[] => {
    const rule = rules.declare("piece of a parameter")
    rules.define(rule, [], () => wireTerm(rules, form))
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
    return { ends, rest: rest.length === 0 ? null : stepsOf(rest) }
  }
  const pad = padding === undefined ? [] : wire`${optional(padding)}`
  const split = parameter.forms.map(({ wire: form }) => splitParameter(form))
  // A value ends where its tag is whole: the line end behind that tag is not part of it. And a tag that begins an argument is
  // no part of a string, else one that fails to end would take the next for its own.
  const tags = notation === "python" ? [] : split.flatMap(({ open, close }) => [open, close].map(tagOf))
  return {
    open: stepsOf(split[0].open),
    next: stepsOf(separator === "" ? split[0].open : [...wire`${separator}`, ...split[0].open]),
    forms: split.map(({ between, close }, i) => ({
      types: typesOf(parameter.forms[i].types),
      rawTypes: notation === "bare" ? Types.string & typesOf(parameter.forms[i].types) : 0,
      between: stepsOf(between),
      close: stepsOf([...pad, ...close]),
      ...endsOf(close),
    })),
    spelling: notation === "python" ? pythonSpelling : null,
    padding: padding === undefined ? null : exprLexeme(exprs.literal(padding)),
    none: none === undefined ? [] : stepsOf(wire`${none}`),
    keyExcludes: ["\n", ...new Set(split.map(({ between }) => firstText(between)[0])), ...controls],
    excludes: [...new Set([...tags.filter((tag) => tag !== ""), ...controls])],
  }
}

/** The fixed text with which a piece begins. */
function tagOf(form: Wire): string {
  return form.length === 0 ? "" : firstText(form).trimEnd()
}

function typesOf(types: readonly JsonType[]): number {
  return types.reduce((bits, type) => bits | Types[type], 0)
}
