/**
 * The scope of one text: its names with their definitions, its options, and its notation.
 *
 * A `%lark {…}` has its own scope, in which the names around it are unknown. The results of the
 * check for each node (decoded strings, expressions, compiled schemas, inner scopes) are kept here
 * for the lowering.
 */
import type { Grammar } from "../../grammar.ts"
import { type JsonNode, readJson } from "../../json/read/reader.ts"
import { type ExprId, Never } from "../../lexeme/expr/expr.ts"
import { commonNames, commonTerminal } from "../lark/common.ts"
import type { RuleId } from "../rules.ts"
import type { Attributes, Dialect, Meaning } from "./dialect.ts"
import type { Mistakes, Source } from "./source.ts"
import type { Definition, Import, Node, Options, Place, Statement, Word } from "./tree.ts"

/** A terminal that is imported from the library. */
export interface Imported {
  readonly kind: "imported"
  readonly name: Word
  readonly expr: ExprId
}

/** The result of the check for a node. */
export type Fact =
  | Meaning
  | { readonly kind: "grammar"; readonly grammar: Grammar }
  | { readonly kind: "scope"; readonly scope: Scope }
  | { readonly kind: "rule"; readonly rule: RuleId }

const optionNames = [
  "allow_initial_skip",
  "ignore_once",
  "no_forcing",
  "greedy",
  "allow_invalid_utf8",
] as const
export type OptionName = (typeof optionNames)[number]

export class Scope {
  readonly source: Source
  readonly dialect: Dialect
  readonly definitions = new Map<string, Definition | Imported>()
  readonly ignored: Node[] = []
  readonly options = new Set<OptionName>()
  readonly facts = new Map<Node, Fact>()
  /** Attributes of the definitions that have any. */
  readonly attributes = new Map<Definition, Attributes>()

  /** `maxDepth` is for the options. */
  constructor(
    { source, dialect }: { source: Source; dialect: Dialect },
    statements: readonly Statement[],
    mistakes: Mistakes,
    maxDepth: number,
  ) {
    this.source = source
    this.dialect = dialect
    for (const statement of statements) {
      switch (statement.kind) {
        case "definition":
          this.define(statement, statement.name, mistakes)
          break
        case "ignore":
          this.ignored.push(statement.body)
          break
        case "import":
          this.import(statement, mistakes)
          break
        case "options":
          this.addOptions(statement, mistakes, maxDepth)
      }
    }
  }

  /** Whether a rule captures something, here or in an inner grammar. */
  get captures(): boolean {
    for (const { capture, suffixCapture } of this.attributes.values())
      if (capture !== null || suffixCapture !== null) return true
    for (const fact of this.facts.values()) if (fact.kind === "scope" && fact.scope.captures) return true
    return false
  }

  isTerminal(name: string): boolean {
    return this.dialect.isTerminalName(name)
  }

  kindOf(name: string): string {
    return this.isTerminal(name) ? "terminal" : "rule"
  }

  private define(definition: Definition | Imported, { text, start }: Word, mistakes: Mistakes): void {
    const before = this.definitions.get(text)
    if (before !== undefined) {
      const place = this.source.shortPlace(before.name.start)
      mistakes.add("syntax", start, `${this.kindOf(text)} "${text}" is already defined at ${place}`)
      return
    }
    const fault = this.dialect.faultOfName(text)
    if (fault !== null) mistakes.add("syntax", start, fault)
    this.definitions.set(text, definition)
  }

  private import({ place, library, names }: Import, mistakes: Mistakes): void {
    const path = library.map(({ text }) => text).join(".")
    if (path !== "common") {
      mistakes.add(
        "unsupported",
        place.start,
        `%import knows the library common alone, not "${path}". Define the names in this text`,
      )
      return
    }
    for (const { name, alias } of names) {
      const expr = commonTerminal(name.text)
      if (expr === null) {
        mistakes.add(
          "syntax",
          name.start,
          `the library common has no terminal "${name.text}". It has ${commonNames.join(", ")}`,
        )
      } else if (!this.isTerminal(alias.text)) {
        mistakes.add("syntax", alias.start, `the name "${alias.text}": terminals are written in upper case`)
      }
      // Even an unknown name is defined by its import, so that its uses are not reported as well.
      this.define({ kind: "imported", name: alias, expr: expr ?? Never }, alias, mistakes)
    }
  }

  private addOptions({ keyword, json }: Options, mistakes: Mistakes, maxDepth: number): void {
    const node = jsonAt(this.source, json, maxDepth, mistakes)
    if (node === null) return
    if (node.kind !== "object") {
      mistakes.add("syntax", json.start, `${keyword.text} takes a JSON object`)
      return
    }
    for (const [name, value] of node.members) {
      const at = json.start + value.start
      if (!isOptionName(name)) {
        mistakes.add(
          "syntax",
          at,
          `unknown option ${JSON.stringify(name)}. Known are ${optionNames.join(", ")}`,
        )
      } else if (value.kind !== "true" && value.kind !== "false") {
        mistakes.add("syntax", at, `the option ${name} is true or false`)
      } else if (name === "allow_invalid_utf8" && value.kind === "true") {
        mistakes.add("unsupported", at, "allow_invalid_utf8: texts are always UTF-8. Leave it out")
      } else if (value.kind === "true") this.options.add(name)
      else this.options.delete(name)
    }
  }
}

/** Returns the JSON value at a place of a text; null after a mistake. */
export function jsonAt(
  source: Source,
  { start, end }: Place,
  maxDepth: number,
  mistakes: Mistakes,
): JsonNode | null {
  return mistakes.nested(start, () => readJson(source.text.slice(start, end), { maxDepth }))
}

function isOptionName(name: string): name is OptionName {
  return (optionNames as readonly string[]).includes(name)
}
