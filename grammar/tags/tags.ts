/**
 * Structural tags: free text and what it switches to, described by nested formats (dialect of
 * XGrammar 2).
 *
 * In reading order: `format.ts` reads an object into a tree (`fields.ts`). `lower.ts` makes rules
 * from it, with the free text of `switching.ts` and `between.ts` and the fixed texts of
 * `literal.ts`. `styles/tools.ts` is the other way to such grammars.
 */
import { gbnfRule } from "../ebnf/gbnf/gbnf.ts"
import { larkRule } from "../ebnf/lark/lark.ts"
import { notationOf } from "../ebnf/notation/notation.ts"
import type { RuleId, Rules } from "../ebnf/rules.ts"
import { checkLimit, type Limits } from "../errors.ts"
import type { JsonOptions } from "../json/compile.ts"
import { type JsonNode, readJson, toText } from "../json/read/reader.ts"
import { below } from "./fields.ts"
import { readStructuralTag } from "./format.ts"
import { Lowering } from "./lower.ts"
import { compileSchema, type SchemaStyle, schemaStyles } from "./schemas.ts"

/** Options for reading schemas inside structural tags, and for the spelling of their values. */
export type TagOptions = Omit<JsonOptions, "key">

/**
 * Reads a structural tag into `rules`: `{type: "structural_tag", format}`, the older `{structures,
 * triggers}`, a format by itself, or the JSON text of one. Throws GrammarError with JSON pointers.
 */
export function tagRule(tag: unknown, rules: Rules, options: TagOptions): RuleId {
  const embedded = {
    styles: schemaStyles,
    schema: (schema: unknown, how: SchemaStyle) => compileSchema(schema, how, rules, options),
    notation: (text: string, inner: Rules, outer: string) => readNotation(text, inner, outer, options),
  }
  const value = typeof tag === "string" ? readText(tag, rules.limits) : tag
  return new Lowering(rules, embedded).rule(readStructuralTag(value, rules.limits))
}

/** Reads a grammar. Its first definition determines the notation. */
function readNotation(text: string, rules: Rules, outer: string, options: TagOptions): RuleId {
  const notation = below(outer, () => notationOf(text, rules.limits))
  if (notation === "gbnf") return gbnfRule(text, rules, { outer })
  const how = { style: "json", anyOrder: false, maxWhitespace: null, excludes: [] }
  const schema = (inner: string) => compileSchema(inner, how, rules, options)
  return larkRule(text, rules, { schema, outer }).rule
}

/**
 * Parses a JSON text. Schemas in it remain texts, so that the spelling of numbers and the order of
 * keys are kept.
 */
function readText(text: string, limits: Limits): unknown {
  checkLimit(limits, "schemaBytes.tag", text.length)
  return plainValue(readJson(text, { maxDepth: limits.schemaDepth }))
}

function plainValue(node: JsonNode): unknown {
  switch (node.kind) {
    case "null":
      return null
    case "true":
    case "false":
      return node.kind === "true"
    case "number":
      return Number(node.text)
    case "string":
      return node.value
    case "array":
      return node.items.map(plainValue)
    case "object": {
      const entries = node.keys.map((key) => {
        const member = node.members.get(key) as JsonNode
        const isSchema = (key === "json_schema" || key === "schema") && member.kind !== "string"
        return [key, isSchema ? toText(member) : plainValue(member)] as const
      })
      return Object.fromEntries(entries)
    }
  }
}
