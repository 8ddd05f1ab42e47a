/**
 * What is wrong with a Lark text, all at once, before anything is made of it.
 *
 * The walk knows whether it is in a rule or in a terminal, where `&` and `~` mean something and rules, schemas and control
 * tokens do not. It leaves what it finds out about a node in the scope, so that the lowering only has to look it up.
 */
import { type GrammarErrorKind, type Limits, limitError } from "../../errors.ts"
import type { Grammar } from "../../grammar.ts"
import { Empty } from "../../lexeme/expr/expr.ts"
import type { PlacedPattern } from "../../regex/foreign.ts"
import type { RuleId } from "../rules.ts"
import type { Mistakes } from "../source.ts"
import { chunksOf, substringExpr } from "../substring.ts"
import { type TokenNames, tokenSpelled } from "../tokennames.ts"
import { isOneLexeme, readAttributes } from "./attributes.ts"
import { type Refuse, readLiteral, readRegex, regexOf } from "./literals.ts"
import { checkNumberedRecursion } from "./numbered.ts"
import { checkCondition, checkValue, usesNumber } from "./parameters.ts"
import { isTerminalName, jsonAt, kindOf, Scope } from "./scope.ts"
import { readTokenSet } from "./tokens.ts"
import {
  type Definition,
  type JsonElement,
  type Literal,
  type Node,
  nodesIn,
  type Repetition,
  type Word,
} from "./tree.ts"

/** What a text may refer to beyond its own names. */
export interface Surroundings {
  readonly limits: Limits
  /** Null: nothing is known of a vocabulary. */
  readonly tokens: TokenNames | null
  /** Regular expressions that were read are added here. */
  readonly patterns: PlacedPattern[]
  /** Compiles a schema, given as its JSON text. */
  readonly schema: (text: string) => Grammar
  /** The rule of a grammar by its name, or what is wrong with it. `at` is where it is asked for. */
  readonly grammar: (name: string, at: string) => RuleId | string
}

/** Where a node stands. */
interface Position {
  readonly isTerminal: boolean
  /** The definition around it; null for what is ignored. */
  readonly definition: Definition | null
}

export class Checker {
  private readonly scope: Scope
  private readonly mistakes: Mistakes
  private readonly around: Surroundings
  private readonly broken: ReadonlySet<string>
  private readonly refuse: Refuse
  /** Terminals that a terminal uses. */
  private readonly terminalUses = new Map<string, Set<string>>()

  /** `broken`: names whose definitions could not be read, so that their uses are no further mistakes. */
  constructor(scope: Scope, mistakes: Mistakes, around: Surroundings, broken: ReadonlySet<string>) {
    this.scope = scope
    this.broken = broken
    this.mistakes = mistakes
    this.around = around
    this.refuse = (kind, offset, message) => mistakes.add(kind, offset, message)
  }

  /** Checks the whole text, which stands at `at` and begins with `start`. */
  check(start: string, at = 0): void {
    const { scope } = this
    const first = scope.definitions.get(start)
    if (first === undefined && !this.broken.has(start)) {
      this.fail("syntax", at, `no rule "${start}"`)
    } else if (first?.kind === "definition" && (first.parameters !== null || first.isParametric)) {
      const what = first.parameters !== null ? "values" : "a number"
      this.fail("syntax", first.name.start, `the rule "${start}" takes ${what}: nothing gives it any`)
    }
    for (const definition of scope.definitions.values()) {
      if (definition.kind === "definition") this.checkDefinition(definition)
    }
    for (const node of scope.ignored) this.checkNode(node, { isTerminal: true, definition: null })
    this.checkCycles()
    checkNumberedRecursion(scope, this.refuse)
  }

  private checkDefinition(definition: Definition): void {
    const { name, parameters, priority } = definition
    const isTerminal = isTerminalName(name.text)
    const attributes = readAttributes(definition, this.refuse)
    this.scope.attributes.set(definition, attributes)
    if (priority !== null && !/^-?[0-9]+$/.test(priority.text))
      this.fail("syntax", priority.start, "a priority is a whole number")
    if (isTerminal && definition.attributes.length > 0) {
      this.fail(
        "syntax",
        definition.attributes[0].name.start,
        "attributes stand on rules: use the terminal in a rule",
      )
    }
    if (isTerminal && definition.isParametric) this.fail("syntax", name.start, "only a rule takes a number")
    for (const [i, parameter] of (parameters ?? []).entries()) {
      if (parameters?.findIndex(({ text }) => text === parameter.text) !== i)
        this.fail("syntax", parameter.start, `the parameter ${parameter.text} is given twice`)
    }
    const isLexeme = isTerminal || isOneLexeme(attributes)
    if (attributes.suffix !== null) this.checkNode(attributes.suffix, { isTerminal: true, definition })
    this.checkNode(definition.body, { isTerminal: isLexeme, definition })
    if (definition.isParametric && !needsNumber(definition.body)) {
      this.fail("syntax", name.start, `the rule "${name.text}" takes a number that nothing in it uses`)
    }
  }

  private checkNode(node: Node, position: Position): void {
    const { isTerminal } = position
    switch (node.kind) {
      case "or":
        for (const option of node.options) this.checkNode(option, position)
        return
      case "sequence":
        for (const item of node.items) this.checkNode(item, position)
        return
      case "and":
        if (!isTerminal)
          this.fail("syntax", node.parts[1].start, '"&" stands in terminals: name this one in upper case')
        for (const part of node.parts) {
          if (part.kind === "sequence" && part.items.length === 0)
            this.fail("syntax", part.start, 'expected an item beside "&"')
          this.checkNode(part, position)
        }
        return
      case "not":
        if (!isTerminal)
          this.fail("syntax", node.start, '"~" stands in terminals: name this one in upper case')
        this.checkNode(node.body, position)
        return
      case "repeat":
        this.checkCounts(node)
        this.checkNode(node.body, position)
        return
      case "if":
        if (position.definition?.isParametric === true && !isTerminal)
          checkCondition(node.condition, this.refuse)
        else this.fail("syntax", node.condition.start, "%if stands in rules with a number: name::_")
        this.checkNode(node.body, position)
        return
      case "literal": {
        const { value, ignoresCase } = readLiteral(node, this.refuse)
        this.scope.facts.set(node, { kind: "text", value, ignoresCase })
        return
      }
      case "range":
        this.checkRange(node)
        return
      case "regex":
        this.scope.facts.set(node, { kind: "expr", expr: readRegex(node, this.around.limits, this.refuse) })
        this.around.patterns.push({ ...regexOf(node), path: this.scope.source.path(node.start) })
        return
      case "name":
      case "template":
      case "call":
        this.checkUse(node, position)
        return
      case "token":
        if (isTerminal) this.fail("syntax", node.start, "control tokens stand in rules, not in terminals")
        else if (node.text.startsWith("<[")) readTokenSet(node, this.around.tokens, this.refuse)
        else if (this.around.tokens !== null && tokenSpelled(node.text, this.around.tokens) < 0)
          this.fail("syntax", node.start, `no token is spelled ${node.text}`)
        return
      case "json":
        if (isTerminal) this.fail("syntax", node.start, "%json stands in rules, not in terminals")
        else this.checkSchema(node)
        return
      case "substring":
        this.checkSubstring(node)
        return
      case "nested":
        if (isTerminal) this.fail("syntax", node.start, "%lark stands in rules, not in terminals")
        else {
          const scope = new Scope(
            this.scope.source,
            node.statements,
            this.mistakes,
            this.around.limits.schemaDepth,
          )
          this.scope.facts.set(node, { kind: "scope", scope })
          new Checker(scope, this.mistakes, this.around, this.broken).check("start", node.start)
        }
        return
      case "grammar": {
        if (isTerminal) {
          this.fail("syntax", node.start, `@${node.name}: grammars stand in rules, not in terminals`)
          return
        }
        const rule = this.around.grammar(node.name, this.scope.source.path(node.start))
        if (typeof rule === "string") this.fail("syntax", node.start, rule)
        else this.scope.facts.set(node, { kind: "rule", rule })
        return
      }
      default:
        node satisfies never
    }
  }

  private checkCounts({ min, max }: Repetition): void {
    for (const word of new Set([min, max])) {
      if (word === null) continue
      if (!/^[0-9]+$/.test(word.text)) {
        this.fail("syntax", word.start, `the count ${word.text} of a repetition is no whole number from 0 up`)
        return
      }
      const { limits } = this.around
      if (Number(word.text) > limits.maxRepeat) {
        const error = limitError(limits, "maxRepeat.lark", Number(word.text), "", { written: word.text })
        this.fail("limit", word.start, error.message)
        return
      }
    }
    if (min !== null && max !== null && Number(max.text) < Number(min.text))
      this.fail("syntax", max.start, `the repetition ends at ${max.text}, below its beginning ${min.text}`)
  }

  private checkRange({ first, last, start }: Node & { kind: "range" }): void {
    const [low, high] = [first, last].map((end) => this.checkRangeEnd(end))
    if (low === null || high === null) return
    if (high < low)
      this.fail("syntax", start, `the range ends at ${last.text}, before its beginning ${first.text}`)
  }

  /** The code point of the end of a range; null after a mistake. */
  private checkRangeEnd(end: Literal): number | null {
    const { value, ignoresCase } = readLiteral(end, this.refuse)
    this.scope.facts.set(end, { kind: "text", value, ignoresCase })
    if (ignoresCase) this.fail("syntax", end.start, "an end of a range has no suffix i")
    else if ([...value].length !== 1) this.fail("syntax", end.start, "an end of a range is one character")
    else return value.codePointAt(0) as number
    return null
  }

  /** A name, a template with values, or a rule with its number. */
  private checkUse(node: Node & { kind: "name" | "template" | "call" }, position: Position): void {
    const { isTerminal, definition: around } = position
    const name: Word = node.kind === "name" ? node : node.name
    const { text, start } = name
    if (node.kind === "template") for (const value of node.values) this.checkNode(value, position)
    if (node.kind === "call") {
      checkValue(node.value, this.refuse)
      if (isTerminal) this.fail("syntax", start, "a rule with a number stands in rules, not in terminals")
      else if (usesNumber(node.value) && around?.isParametric !== true) {
        const rule = around === null ? "" : ` "${around.name.text}"`
        this.fail("syntax", node.value.start, `the rule${rule} has no number: define it as name::_`)
      }
    }
    if (around?.parameters?.some((parameter) => parameter.text === text)) {
      if (node.kind !== "name") this.fail("syntax", start, `${text} is a parameter: it takes nothing`)
      return
    }
    const used = this.scope.definitions.get(text)
    if (used === undefined) {
      if (!this.broken.has(text)) this.fail("syntax", start, `the ${kindOf(text)} "${text}" is not defined`)
      return
    }
    if (isTerminal && !isTerminalName(text)) {
      this.fail("syntax", start, `the rule "${text}" in a terminal: only terminals stand there`)
    } else if (isTerminal && around !== null) this.addTerminalUse(around.name.text, text)
    const parameters = used.kind === "definition" ? used.parameters : null
    const isParametric = used.kind === "definition" && used.isParametric
    if (node.kind === "template" && parameters === null) {
      this.fail("syntax", start, `the ${kindOf(text)} "${text}" takes no values`)
    } else if (node.kind === "template" && parameters?.length !== node.values.length) {
      this.fail(
        "syntax",
        start,
        `the template "${text}" takes ${parameters?.length} values, found ${node.values.length}`,
      )
    } else if (node.kind !== "template" && parameters !== null) {
      this.fail("syntax", start, `the template "${text}" takes ${parameters.length} values: ${text}{…}`)
    }
    if (node.kind === "call" && !isParametric)
      this.fail("syntax", start, `the rule "${text}" takes no number`)
    else if (node.kind !== "call" && isParametric)
      this.fail("syntax", start, `the rule "${text}" takes a number: ${text}::…`)
  }

  private addTerminalUse(user: string, used: string): void {
    const uses = this.terminalUses.get(user)
    if (uses === undefined) this.terminalUses.set(user, new Set([used]))
    else uses.add(used)
  }

  private checkSchema(node: JsonElement): void {
    const { source, facts } = this.scope
    const { start, end } = node.json
    const grammar = this.mistakes.nested(start, () => this.around.schema(source.text.slice(start, end)))
    if (grammar !== null) facts.set(node, { kind: "grammar", grammar })
  }

  /** `%regex`: one of three keys. */
  private checkSubstring(node: JsonElement): void {
    const { source, facts } = this.scope
    facts.set(node, { kind: "expr", expr: Empty })
    const json = jsonAt(source, node.json, this.around.limits.schemaDepth, this.mistakes)
    if (json === null) return
    const keys = ["substring_chunks", "substring_chars", "substring_words"]
    if (json.kind !== "object" || json.keys.length !== 1 || !keys.includes(json.keys[0])) {
      this.fail("syntax", node.json.start, `%regex takes an object with one of the keys ${keys.join(", ")}`)
      return
    }
    const [key] = json.keys
    const value = json.members.get(key) as NonNullable<ReturnType<typeof json.members.get>>
    const at = node.json.start + value.start
    let chunks: string[]
    if (key === "substring_chunks") {
      const items = value.kind === "array" ? value.items : []
      chunks = items.flatMap((item) => (item.kind === "string" ? [item.value] : []))
      if (value.kind !== "array" || chunks.length < items.length) {
        this.fail("syntax", at, `${key} takes a list of strings`)
        return
      }
    } else if (value.kind === "string")
      chunks = chunksOf(value.value, key === "substring_chars" ? "chars" : "words")
    else {
      this.fail("syntax", at, `${key} takes a string`)
      return
    }
    const expr = this.mistakes.nested(at, () => substringExpr(chunks, "", this.around.limits))
    if (expr !== null) facts.set(node, { kind: "expr", expr })
  }

  /** Refuses terminals that use themselves, and leaves an order in which each stands behind what it uses. */
  private checkCycles(): void {
    const done = new Set<string>()
    for (const root of this.terminalUses.keys()) {
      const path: { name: string; uses: string[] }[] = []
      const onPath = new Set<string>()
      const enter = (name: string) => {
        path.push({ name, uses: [...(this.terminalUses.get(name) ?? [])] })
        onPath.add(name)
      }
      if (!done.has(root)) enter(root)
      while (path.length > 0) {
        const top = path[path.length - 1]
        const next = top.uses.pop()
        if (next === undefined) {
          done.add(top.name)
          onPath.delete(top.name)
          path.pop()
        } else if (onPath.has(next)) {
          const chain = path.slice(path.findIndex(({ name }) => name === next)).map(({ name }) => name)
          const { start } = (this.scope.definitions.get(next) as Definition).name
          this.fail(
            "syntax",
            start,
            `the terminal "${next}" uses itself: ${[...chain, next].join(" -> ")}. Make it a rule`,
          )
        } else if (!done.has(next)) enter(next)
      }
    }
  }

  private fail(kind: GrammarErrorKind, offset: number, message: string): void {
    this.mistakes.add(kind, offset, message)
  }
}

/** Whether a node asks for the number of the rule that it stands in. */
function needsNumber(root: Node): boolean {
  const open = [root]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.kind === "if" || (node.kind === "call" && usesNumber(node.value))) return true
    open.push(...nodesIn(node))
  }
  return false
}
