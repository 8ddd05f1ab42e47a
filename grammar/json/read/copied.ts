/**
 * `x-copied`: whether a string quotes the source of its constraint (`GrammarInput`). It is not a
 * keyword of a draft. Like `pattern` it constrains strings only, wherever it stands: the string is
 * a run of characters of the source, or of its words, or it is empty.
 *
 * If there is a source, a schema without the keyword counts as copied if its `type` includes
 * "string" and it has no `enum`, `const`, `format` or `pattern`. A copied schema allows fewer
 * values. Below `not`, for example, fewer values there are more values of the whole, so every
 * schema there must have the keyword (`facts/copies.ts`).
 */
import type { SubstringUnit } from "../../ebnf/substring.ts"
import { GrammarError, type Limits } from "../../errors.ts"
import type { ExprId } from "../../lexeme/expr/expr.ts"
import { Types } from "../facts/conjunction.ts"
import { type JsonParts, partOf } from "../parts.ts"
import type { SchemaNode } from "../refs/refs.ts"
import type { Keywords } from "./keywords.ts"
import { type Members, malformed } from "./keywordvalue.ts"
import type { JsonNode } from "./reader.ts"

export const CopiedKey = "x-copied"

/** Keywords that say what a string is. */
const describing = ["enum", "const", "format", "pattern"]

/** The copied strings of a schema. */
export class Copies {
  /** Schemas that do not say that their strings are copied. */
  readonly implied = new Set<SchemaNode>()
  private readonly source: string | undefined
  private readonly limits: Limits
  private readonly parts: JsonParts
  private readonly exprs = new Map<SubstringUnit, ExprId>()

  constructor(source: string | undefined, { limits, parts }: { limits: Limits; parts: JsonParts }) {
    this.source = source
    this.limits = limits
    this.parts = parts
  }

  /**
   * Returns the texts that the strings of `node` may quote; null if they are not copied. Throws
   * `unsupported` if they must be copied and there is no source.
   */
  of(node: SchemaNode, members: Members, { types }: Keywords): ExprId | null {
    const said = members.get(CopiedKey)
    const path = `${node.pointer}/${CopiedKey}`
    const unit = said === undefined ? null : unitOf(said, path)
    if (this.source === undefined) {
      if (unit === null) return null
      const message = "there is no source to copy from. Give the constraint a source, or remove this"
      throw new GrammarError("unsupported", path, message)
    }
    if (said !== undefined) return unit === null ? null : this.texts(unit, path)
    const isOpen = members.has("type") && !describing.some((keyword) => members.has(keyword))
    if (!isOpen || (types & Types.string) === 0) return null
    this.implied.add(node)
    return this.texts("chars", node.pointer)
  }

  private texts(unit: SubstringUnit, path: string): ExprId {
    let expr = this.exprs.get(unit)
    if (expr === undefined) {
      expr = partOf(this.parts, "quotations", path)(this.source ?? "", unit, path, this.limits)
      this.exprs.set(unit, expr)
    }
    return expr
  }
}

/** Returns the unit of copied strings; null for strings that are not copied. */
function unitOf(value: JsonNode, path: string): SubstringUnit | null {
  if (value.kind === "false") return null
  if (value.kind === "true") return "chars"
  if (value.kind === "string" && (value.value === "chars" || value.value === "words")) return value.value
  throw malformed(path, 'true, false, "chars" or "words"', value)
}
