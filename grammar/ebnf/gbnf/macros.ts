/**
 * XGrammar's macros: `Regex`, `Substring`, `Token`, `ExcludeToken`, `TagDispatch`,
 * `TokenTagDispatch`.
 *
 * They are checked here and become what the lowering needs: an expression, a set of tokens, or a
 * dispatch: free text until a trigger is complete, then the trigger's rule, then free text again.
 */
import type { GrammarErrorKind } from "../../errors.ts"
import { parseRegex } from "../../regex/parse.ts"
import type { Dialect, Meaning } from "../notation/dialect.ts"
import type { Refuse } from "../notation/source.ts"
import type { Macro, Value } from "../notation/tree.ts"
import { substringExpr } from "../substring.ts"
import { checkIds } from "./tokens.ts"

type Around = Parameters<Dialect["macroOf"]>[1]

/** Aborts the check of one macro. Thrown and caught only in this file. */
class MacroRefusal extends Error {
  readonly kind: GrammarErrorKind
  readonly offset: number

  constructor(kind: GrammarErrorKind, offset: number, message: string) {
    super(message)
    this.kind = kind
    this.offset = offset
  }
}

function refuse({ start }: { start: number }, message: string, kind: GrammarErrorKind = "syntax"): never {
  throw new MacroRefusal(kind, start, message)
}

/** Returns the meaning of `macro`; null after a mistake, which has been reported. */
export function macroMeaning(macro: Macro, around: Around): Meaning | null {
  const { mistakes, tokens } = around
  try {
    const meaning = meaningOf(macro, around)
    if (meaning !== null) {
      const add: Refuse = (kind, offset, message) => mistakes.add(kind, offset, message)
      checkIds(meaning, macro.start, tokens, add)
    }
    return meaning
  } catch (error) {
    if (!(error instanceof MacroRefusal)) throw error
    mistakes.add(error.kind, error.offset, error.message)
    return null
  }
}

function meaningOf(macro: Macro, around: Around): Meaning | null {
  const { name, values, start } = macro
  switch (name) {
    case "Regex":
      return regexOf(macro, around)
    case "Substring": {
      checkNamed(macro, [])
      const chunks = values.map((value) => textOf(value, "Substring takes strings"))
      return around.mistakes.nested(start, () => {
        return { kind: "expr", expr: substringExpr(chunks, "", around.limits) }
      })
    }
    case "Token":
    case "ExcludeToken": {
      checkNamed(macro, [])
      const ids = values.map((value) => idOf(value, `${name} takes ids of tokens`))
      const isComplement = name === "ExcludeToken"
      if (ids.length === 0 && !isComplement) refuse(macro, "Token takes one id at least")
      return { kind: "tokens", ids, isComplement }
    }
    case "TagDispatch":
      return dispatchOf(macro)
    default:
      return tokenDispatchOf(macro)
  }
}

function regexOf(macro: Macro, { mistakes, limits, patterns, source }: Around): Meaning | null {
  const jsonString = macro.named.find(({ name }) => name.text === "json_string")
  if (jsonString !== undefined) {
    const wayOut = "Exclude quotes, backslashes and control characters in the pattern"
    refuse(jsonString.name, `json_string is not supported. ${wayOut}`, "unsupported")
  }
  checkNamed(macro, ["flags"])
  const { values, named } = macro
  if (values.length !== 1) refuse(macro, `Regex takes one string, found ${values.length} values`)
  const pattern = textOf(values[0], "Regex takes a string")
  const flags = named.length === 0 ? undefined : textOf(named[0].value, "flags takes a string")
  return mistakes.nested(values[0].start, () => {
    const expr = parseRegex(pattern, { flags, mode: "match", dot: "lineFeed", path: "", limits })
    patterns.push({ pattern, flags, path: source.path(macro.start) })
    return { kind: "expr", expr }
  })
}

function dispatchOf(macro: Macro): Meaning {
  checkNamed(macro, ["loop_after_dispatch", "excludes"])
  const what = "a trigger is a string that is not empty"
  const triggers = macro.values.map((value) => {
    const { first, rule } = pairOf(value)
    const trigger = textOf(first, what)
    if (trigger === "") refuse(first, what)
    return { trigger, rule, start: first.start }
  })
  const excludes = membersOf(macro, "excludes").map((value) => {
    const exclude = textOf(value, "excludes takes strings")
    if (exclude === "") refuse(value, "an exclude is a string that is not empty")
    return exclude
  })
  for (const each of triggers) {
    const { trigger } = each
    const others = triggers.map((other) => other.trigger).filter((other) => other !== trigger)
    const inside = [...others, ...excludes].find((text) => trigger.includes(text))
    if (inside === undefined) continue
    const [whole, part] = [JSON.stringify(trigger), JSON.stringify(inside)]
    refuse(each, `the trigger ${whole} could never be complete: it holds ${part}`)
  }
  return { kind: "dispatch", by: "text", triggers, excludes, loops: loopsOf(macro) }
}

function tokenDispatchOf(macro: Macro): Meaning {
  checkNamed(macro, ["loop_after_dispatch", "excludes"])
  const triggers = macro.values.map((value) => {
    const { first, rule } = pairOf(value)
    return { trigger: idOf(first, "a trigger is the id of a token"), rule, start: first.start }
  })
  const excludes = membersOf(macro, "excludes").map((value) => idOf(value, "excludes takes ids of tokens"))
  const both = triggers.find(({ trigger }) => excludes.includes(trigger))
  if (both !== undefined) refuse(both, `the token ${both.trigger} is a trigger and excluded. Keep one`)
  return { kind: "dispatch", by: "token", triggers, excludes, loops: loopsOf(macro) }
}

function checkNamed(macro: Macro, known: readonly string[]): void {
  const seen = new Set<string>()
  for (const { name } of macro.named) {
    if (!known.includes(name.text)) {
      const hint = known.length === 0 ? "It takes none" : `Known are ${known.join(", ")}`
      refuse(name, `${macro.name} has no argument ${name.text}. ${hint}`)
    }
    if (seen.has(name.text)) refuse(name, `the argument ${name.text} is given twice`)
    seen.add(name.text)
  }
}

function pairOf(value: Value): { first: Value; rule: string } {
  if (value.kind === "tuple" && value.values.length === 2) {
    const [first, second] = value.values
    if (second.kind === "name") return { first, rule: second.text }
  }
  return refuse(value, "expected a trigger and its rule in parentheses: (trigger, rule)")
}

function namedValue(macro: Macro, name: string): Value | undefined {
  return macro.named.find((each) => each.name.text === name)?.value
}

function membersOf(macro: Macro, name: string): readonly Value[] {
  const value = namedValue(macro, name)
  if (value === undefined) return []
  return value.kind === "tuple" ? value.values : refuse(value, `${name} takes a list in parentheses`)
}

function loopsOf(macro: Macro): boolean {
  const value = namedValue(macro, "loop_after_dispatch")
  if (value === undefined) return true
  const isBoolean = value.kind === "name" && (value.text === "true" || value.text === "false")
  return isBoolean ? value.text === "true" : refuse(value, "loop_after_dispatch takes true or false")
}

function textOf(value: Value, message: string): string {
  return value.kind === "text" ? value.text : refuse(value, message)
}

function idOf(value: Value, message: string): number {
  const id = value.kind === "number" ? Number(value.text) : -1
  return Number.isSafeInteger(id) && id >= 0 ? id : refuse(value, message)
}
