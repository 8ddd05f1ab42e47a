/**
 * Wire forms as terms, from which the grammar of a turn is assembled.
 */
import type { Rules } from "../../ebnf/rules.ts"
import type { Term } from "../../ebnf/terms.ts"
import type { Grammar } from "../../grammar.ts"
import { exprs } from "../../lexeme/expr/expr.ts"
import { literalTerm } from "./literal.ts"
import type { Part, Wire } from "./wire.ts"

/** The values for the slots of a call. */
export interface Filling {
  readonly name: string
  /** The call's index in the turn, from 0, and the number of calls before the turn. */
  readonly index: number
  readonly callsBefore: number
  /** The arguments as JSON, and one by one. */
  readonly json: () => Grammar
  readonly parameters: () => Grammar
}

/**
 * Returns any call of these tools in this form. Their names are one trie, so what belongs to a tool
 * is reached only when its name has been read.
 */
export function callTerm(rules: Rules, form: Wire, fillings: readonly Filling[]): Term {
  const { terms } = rules
  const [flat, at] = splitAtName(form)
  const { index, callsBefore } = fillings[0]
  const before = wireTerm(rules, flat.slice(0, at), { index, callsBefore })
  const options = fillings.map((filling) => {
    const rest = wireTerm(rules, flat.slice(at + 1), filling)
    return [filling.name, rest] as const
  })
  return terms.concat(before, terms.choice(options))
}

/** Returns the form with its name on the outermost level, and the index of the name in it. */
function splitAtName(form: Wire): [flat: Wire, at: number] {
  const flat = form.flatMap((part) => (part.kind === "id" ? [...part.wire] : [part]))
  const at = flat.findIndex((part) => part.kind === "name")
  if (at < 0) throw new Error("internal: a call without a name")
  return [flat, at]
}

/** Returns a form with its slots filled. */
export function wireTerm(rules: Rules, form: Wire, filling: Partial<Filling> = {}): Term {
  return rules.terms.concat(...form.map((part) => partTerm(rules, part, filling)))
}

function partTerm(rules: Rules, part: Part, filling: Partial<Filling>): Term {
  const { terms } = rules
  switch (part.kind) {
    case "text":
      return literalTerm(rules, part.text)
    case "name":
      return terms.text(filled(filling.name))
    case "json":
      return terms.nested(filled(filling.json)())
    case "parameters":
      return terms.nested(filled(filling.parameters)())
    case "index": {
      const before = part.within === "conversation" ? filled(filling.callsBefore) : 0
      return terms.text(String(part.first + before + filled(filling.index)))
    }
    case "letters":
      return terms.expr(exprs.loop(alphanumeric, part.count, part.count))
    case "id":
      return wireTerm(rules, part.wire, filling)
    case "optional":
      return terms.or([terms.empty, wireTerm(rules, part.wire, filling)])
    case "either":
      return terms.or(part.wires.map((inner) => wireTerm(rules, inner, filling)))
    case "key":
    case "value":
      throw new Error(`internal: a ${part.kind} outside of a parameter`)
    default:
      return part satisfies never
  }
}

const alphanumeric = exprs.codePoints([0x30, 0x39, 0x41, 0x5a, 0x61, 0x7a])

function filled<T>(slot: T | undefined): T {
  if (slot === undefined) throw new Error("internal: a slot that nothing fills")
  return slot
}
