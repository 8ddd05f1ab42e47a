/** Wire forms as terms: what the grammar of a turn is put together from. */
import type { Rules } from "../../ebnf/rules.ts"
import type { Term } from "../../ebnf/terms.ts"
import type { Grammar } from "../../grammar.ts"
import { exprs } from "../../lexeme/expr/expr.ts"
import { literalTerm } from "./literal.ts"
import type { Part, Wire } from "./wire.ts"

/** What fills the slots of a call. */
export interface Filling {
  readonly name: string
  /** The call's place in the turn, from 0. */
  readonly index: number
  /** The arguments as JSON, and one by one. */
  readonly json: () => Grammar
  readonly parameters: () => Grammar
}

/** Any call of these tools in this form. Their names are one trie: what belongs to one is reached when its name is read. */
export function callTerm(rules: Rules, form: Wire, fillings: readonly Filling[]): Term {
  const { terms } = rules
  const [flat, at] = splitAtName(form)
  const before = wireTerm(rules, flat.slice(0, at), null, fillings[0].index)
  const options = fillings.map((filling) => {
    const rest = wireTerm(rules, flat.slice(at + 1), filling, filling.index)
    return [filling.name, rest] as const
  })
  return terms.concat(before, terms.choice(options))
}

/** The form with its name on the outermost level, and the place of the name in it. */
function splitAtName(form: Wire): [flat: Wire, at: number] {
  const flat = form.flatMap((part) => (part.kind === "id" ? [...part.wire] : [part]))
  const at = flat.findIndex((part) => part.kind === "name")
  if (at < 0) throw new Error("internal: a call without a name")
  return [flat, at]
}

/** A form whose slots, if there are any, are filled by `filling`. */
export function wireTerm(rules: Rules, form: Wire, filling: Filling | null, index = 0): Term {
  return rules.terms.concat(...form.map((part) => partTerm(rules, part, filling, index)))
}

function partTerm(rules: Rules, part: Part, filling: Filling | null, index: number): Term {
  const { terms } = rules
  switch (part.kind) {
    case "text":
      return literalTerm(rules, part.text)
    case "name":
      return terms.text(filled(filling).name)
    case "json":
      return terms.nested(filled(filling).json())
    case "parameters":
      return terms.nested(filled(filling).parameters())
    case "index":
      return terms.text(String(part.first + index))
    case "letters":
      return terms.expr(exprs.loop(alphanumeric, part.count, part.count))
    case "id":
      return wireTerm(rules, part.wire, filling, index)
    case "optional":
      return terms.or([terms.empty, wireTerm(rules, part.wire, filling, index)])
    case "either":
      return terms.or(part.wires.map((inner) => wireTerm(rules, inner, filling, index)))
    case "key":
    case "value":
      throw new Error(`internal: a ${part.kind} outside of a parameter`)
    default:
      return part satisfies never
  }
}

const alphanumeric = exprs.codePoints([0x30, 0x39, 0x41, 0x5a, 0x61, 0x7a])

function filled(filling: Filling | null): Filling {
  if (filling === null) throw new Error("internal: a slot before the name")
  return filling
}
