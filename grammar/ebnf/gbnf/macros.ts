/**
 * Macros, as XGrammar has them: `Regex`, `Substring`, `Token`, `ExcludeToken`, `TagDispatch`, `TokenTagDispatch`.
 *
 * They are checked here and become what is left to lower: an expression, a set of tokens, or a dispatch: free text until a
 * trigger is complete, then the trigger's rule, then free text again.
 */
import type { GrammarErrorKind, Limits } from "../../errors.ts"
import type { ExprId } from "../../lexeme/expr/expr.ts"
import { parseRegex } from "../../regex/parse.ts"
import type { Mistakes } from "../source.ts"
import { substringExpr } from "../substring.ts"
import type { Macro, Value } from "./tree.ts"

export type CheckedMacro =
  | { kind: "expr"; expr: ExprId; regex?: { pattern: string; flags?: string } }
  | { kind: "tokens"; ids: number[]; isNegated: boolean }
  | { kind: "dispatch"; triggers: readonly Trigger<string>[]; excludes: readonly string[]; loops: boolean }
  | {
      kind: "tokenDispatch"
      triggers: readonly Trigger<number>[]
      excludes: readonly number[]
      loops: boolean
    }

/** What switches, and the name of the rule to which it does. */
interface Trigger<T> {
  readonly trigger: T
  readonly rule: string
}

/** Leaves the checking of one macro; only this file knows it. */
class MacroRefusal extends Error {
  readonly kind: GrammarErrorKind
  readonly offset: number

  constructor(kind: GrammarErrorKind, offset: number, message: string) {
    super(message)
    this.kind = kind
    this.offset = offset
  }
}

/** What `macro` means; null after a mistake, which has been reported. */
export function checkMacro(macro: Macro, mistakes: Mistakes, limits: Limits): CheckedMacro | null {
  try {
    return checked(macro, mistakes, limits)
  } catch (error) {
    if (!(error instanceof MacroRefusal)) throw error
    mistakes.add(error.kind, error.offset, error.message)
    return null
  }
}

function checked(macro: Macro, mistakes: Mistakes, limits: Limits): CheckedMacro | null {
  switch (macro.name) {
    case "Regex":
      return regexOf(macro, mistakes, limits)
    case "Substring": {
      checkNamed(macro, [])
      const chunks = macro.values.map((value) => textOf(value, "Substring takes strings"))
      return mistakes.nested(macro.offset, () => ({ kind: "expr", expr: substringExpr(chunks, "", limits) }))
    }
    case "Token":
    case "ExcludeToken": {
      checkNamed(macro, [])
      const ids = macro.values.map((value) => idOf(value, `${macro.name} takes ids of tokens`))
      const isNegated = macro.name === "ExcludeToken"
      if (ids.length === 0 && !isNegated)
        throw new MacroRefusal("syntax", macro.offset, "Token takes one id at least")
      return { kind: "tokens", ids, isNegated }
    }
    case "TagDispatch":
      return dispatchOf(macro)
    default:
      return tokenDispatchOf(macro)
  }
}

function regexOf(macro: Macro, mistakes: Mistakes, limits: Limits): CheckedMacro | null {
  const jsonString = macro.named.find(({ name }) => name === "json_string")
  if (jsonString !== undefined) {
    const message =
      "json_string is not supported. Exclude quotes, backslashes and control characters in the pattern"
    throw new MacroRefusal("unsupported", jsonString.offset, message)
  }
  checkNamed(macro, ["flags"])
  const [pattern, second] = macro.values
  if (pattern === undefined || second !== undefined) {
    throw new MacroRefusal(
      "syntax",
      macro.offset,
      `Regex takes one string, found ${macro.values.length} values`,
    )
  }
  const text = textOf(pattern, "Regex takes a string")
  const [given] = macro.named
  const flags = given === undefined ? undefined : textOf(given.value, "flags takes a string")
  return mistakes.nested(pattern.offset, () => ({
    kind: "expr",
    regex: { pattern: text, flags },
    expr: parseRegex(text, { flags, mode: "match", dot: "lineFeed", path: "", limits }),
  }))
}

function dispatchOf(macro: Macro): CheckedMacro {
  checkNamed(macro, ["loop_after_dispatch", "excludes"])
  const what = "a trigger is a string that is not empty"
  const triggers = macro.values.map((value) => {
    const { first, rule } = pairOf(value)
    const trigger = textOf(first, what)
    if (trigger === "") throw new MacroRefusal("syntax", first.offset, what)
    return { trigger, rule, offset: first.offset }
  })
  const excludes = membersOf(macro, "excludes").map((value) => {
    const exclude = textOf(value, "excludes takes strings")
    if (exclude === "")
      throw new MacroRefusal("syntax", value.offset, "an exclude is a string that is not empty")
    return exclude
  })
  for (const { trigger, offset } of triggers) {
    const other = triggers.find((each) => each.trigger !== trigger && trigger.includes(each.trigger))?.trigger
    const inside = other ?? excludes.find((exclude) => trigger.includes(exclude))
    if (inside !== undefined) {
      const message = `the trigger ${JSON.stringify(trigger)} could never be complete: it holds ${JSON.stringify(inside)}`
      throw new MacroRefusal("syntax", offset, message)
    }
  }
  return { kind: "dispatch", triggers, excludes, loops: loopsOf(macro) }
}

function tokenDispatchOf(macro: Macro): CheckedMacro {
  checkNamed(macro, ["loop_after_dispatch", "excludes"])
  const triggers = macro.values.map((value) => {
    const { first, rule } = pairOf(value)
    return { trigger: idOf(first, "a trigger is the id of a token"), rule, offset: first.offset }
  })
  const excludes = membersOf(macro, "excludes").map((value) => idOf(value, "excludes takes ids of tokens"))
  const both = triggers.find(({ trigger }) => excludes.includes(trigger))
  if (both !== undefined) {
    throw new MacroRefusal(
      "syntax",
      both.offset,
      `the token ${both.trigger} is a trigger and excluded. Keep one`,
    )
  }
  return { kind: "tokenDispatch", triggers, excludes, loops: loopsOf(macro) }
}

function checkNamed(macro: Macro, known: readonly string[]): void {
  const seen = new Set<string>()
  for (const { name, offset } of macro.named) {
    if (!known.includes(name)) {
      const hint = known.length === 0 ? "It takes none" : `Known are ${known.join(", ")}`
      throw new MacroRefusal("syntax", offset, `${macro.name} has no argument ${name}. ${hint}`)
    }
    if (seen.has(name)) throw new MacroRefusal("syntax", offset, `the argument ${name} is given twice`)
    seen.add(name)
  }
}

function pairOf(value: Value): { first: Value; rule: string } {
  if (value.kind === "tuple" && value.values.length === 2) {
    const [first, second] = value.values
    if (second.kind === "name") return { first, rule: second.name }
  }
  throw new MacroRefusal(
    "syntax",
    value.offset,
    "expected a trigger and its rule in parentheses: (trigger, rule)",
  )
}

function membersOf(macro: Macro, name: string): readonly Value[] {
  const value = macro.named.find((each) => each.name === name)?.value
  if (value === undefined) return []
  if (value.kind !== "tuple")
    throw new MacroRefusal("syntax", value.offset, `${name} takes a list in parentheses`)
  return value.values
}

function loopsOf(macro: Macro): boolean {
  const value = macro.named.find(({ name }) => name === "loop_after_dispatch")?.value
  if (value === undefined) return true
  if (value.kind === "name" && (value.name === "true" || value.name === "false")) return value.name === "true"
  throw new MacroRefusal("syntax", value.offset, "loop_after_dispatch takes true or false")
}

function textOf(value: Value, message: string): string {
  if (value.kind === "string") return value.text
  throw new MacroRefusal("syntax", value.offset, message)
}

function idOf(value: Value, message: string): number {
  if (value.kind === "number" && Number.isSafeInteger(value.number) && value.number >= 0) return value.number
  throw new MacroRefusal("syntax", value.offset, message)
}
