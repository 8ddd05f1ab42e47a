/** Structural tags as grammars, the way `compile` makes them. */
import { Rules, type TokenNames } from "../../grammar/ebnf/rules.ts"
import { defaultLimits, type Limits } from "../../grammar/errors.ts"
import { Grammar } from "../../grammar/grammar.ts"
import { type TagOptions, tagRule } from "../../grammar/tags/tags.ts"

const tagOptions: TagOptions = {
  policy: { order: "schema", whitespace: "flexible", escapes: "minimal", numbers: "plain" },
  limits: defaultLimits,
  formats: "assert",
  unknownKeywords: "ignore",
  unsatisfiable: "error",
}

/** The grammar of `tag`, empty where nothing satisfies it. */
export function compileTag(tag: unknown, tokens?: TokenNames, limits: Limits = defaultLimits): Grammar {
  const rules = new Rules(limits, tokens)
  const identity = { key: () => JSON.stringify(tag), title: "structural tag" }
  return (
    rules.grammar(tagRule(tag, rules, { ...tagOptions, limits }), identity) ??
    new Grammar([], { ...identity, limits })
  )
}
