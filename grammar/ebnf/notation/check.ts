/**
 * Finds all mistakes of a text at once, before rules are made from it.
 *
 * The walk knows whether it is in a rule or in a terminal: only in terminals do `&` and `~` have a
 * meaning, and only in rules may there be rules, schemas and control tokens. It stores its results
 * for each node in the scope, so that the lowering only has to look them up.
 */
import { type GrammarErrorKind, limitError } from "../../errors.ts"
import type { Grammar } from "../../grammar.ts"
import { Empty } from "../../lexeme/expr/expr.ts"
import { readLiteral, readRegex, regexOf } from "../lark/literals.ts"
import type { RuleId } from "../rules.ts"
import { chunksOf, substringExpr } from "../substring.ts"
import { isOneLexeme, type Knowledge } from "./dialect.ts"
import { checkNumberedRecursion } from "./numbered.ts"
import { checkCondition, checkValue, usesNumber } from "./parameters.ts"
import { type Fact, jsonAt, Scope } from "./scope.ts"
import type { Mistakes, Refuse } from "./source.ts"
import {
  type Definition,
  type Literal,
  type Macro,
  type Node,
  nodesIn,
  type Repetition,
  type Word,
} from "./tree.ts"

/** The names and functions that a text may use besides its own names. */
export interface Surroundings extends Knowledge {
  /** Compiles a schema, given as its JSON text. */
  readonly schema: (text: string) => Grammar
  /**
   * Returns the rule of the grammar `name`, or what is wrong with it. `at` is the place of the
   * reference.
   */
  readonly grammar: (name: string, at: string) => RuleId | string
}

/** Names of definitions. */
export interface Names {
  has(name: string): boolean
}

/** The context of a node. */
interface Position {
  readonly isTerminal: boolean
  /** The definition around the node; null in `%ignore`. */
  readonly definition: Definition | null
}

export class Checker {
  private readonly scope: Scope
  private readonly mistakes: Mistakes
  private readonly around: Surroundings
  private readonly broken: Names
  private readonly refuse: Refuse
  /** By terminal: the terminals that it uses. */
  private readonly terminalUses = new Map<string, Set<string>>()

  /**
   * `broken` has the names whose definitions could not be read, so that their uses are not reported
   * as well.
   */
  constructor(scope: Scope, mistakes: Mistakes, around: Surroundings, broken: Names) {
    this.scope = scope
    this.broken = broken
    this.mistakes = mistakes
    this.around = around
    this.refuse = (kind, offset, message) => mistakes.add(kind, offset, message)
  }

  /** Checks the whole text, which is at `at` and begins with `start`. */
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
    for (const node of scope.ignored) this.checkNodes(node, { isTerminal: true, definition: null })
    this.checkCycles()
    checkNumberedRecursion(scope, this.refuse)
  }

  private checkDefinition(definition: Definition): void {
    const { name, parameters, priority } = definition
    const isTerminal = this.scope.isTerminal(name.text)
    const attributes = this.scope.dialect.attributesOf(definition, this.refuse)
    if (definition.attributes.length > 0) this.scope.attributes.set(definition, attributes)
    if (priority !== null && !/^-?[0-9]+$/.test(priority.text))
      this.fail("syntax", priority.start, "a priority is a whole number")
    if (isTerminal && definition.attributes.length > 0) {
      this.fail(
        "syntax",
        definition.attributes[0].name.start,
        "only rules have attributes: use the terminal in a rule",
      )
    }
    if (isTerminal && definition.isParametric) this.fail("syntax", name.start, "only a rule takes a number")
    if (parameters !== null) {
      for (const [i, { text, start }] of parameters.entries()) {
        if (parameters.findIndex((each) => each.text === text) !== i)
          this.fail("syntax", start, `the parameter ${text} is given twice`)
      }
    }
    const isLexeme = isTerminal || (this.scope.dialect.hasTerminals && isOneLexeme(attributes))
    if (attributes.suffix !== null) this.checkNodes(attributes.suffix, { isTerminal: true, definition })
    this.checkNodes(definition.body, { isTerminal: isLexeme, definition })
    if (definition.isParametric && !needsNumber(definition.body)) {
      this.fail("syntax", name.start, `the rule "${name.text}" takes a number that nothing in it uses`)
    }
  }

  /** Checks a node and all nodes inside it, from left to right. */
  private checkNodes(root: Node, position: Position): void {
    const open = [root]
    while (open.length > 0) {
      const node = open.pop() as Node
      this.checkNode(node, position)
      const inner = nodesIn(node)
      for (let i = inner.length - 1; i >= 0; i--) open.push(inner[i])
    }
  }

  /** Checks a node without the nodes inside it. */
  private checkNode(node: Node, position: Position): void {
    const { isTerminal } = position
    switch (node.kind) {
      case "or":
      case "sequence":
      case "text":
      case "class":
        return
      case "and":
        if (!isTerminal) this.fail("syntax", node.parts[1].start, stayInTerminals("&"))
        for (const part of node.parts) {
          if (part.kind === "sequence" && part.items.length === 0)
            this.fail("syntax", part.start, 'expected an item beside "&"')
        }
        return
      case "not":
        if (!isTerminal) this.fail("syntax", node.start, stayInTerminals("~"))
        return
      case "repeat":
        if (node.counts.length > 0) this.checkCounts(node)
        return
      case "if":
        if (position.definition?.isParametric === true && !isTerminal)
          checkCondition(node.condition, this.refuse)
        else this.fail("syntax", node.condition.start, "%if is allowed only in rules with a number: name::_")
        return
      case "literal":
        this.checkLiteral(node)
        return
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
      case "substring":
        this.checkSubstring(node)
        return
      default:
        if (isTerminal) this.fail("syntax", node.start, `${named(node)} in rules, not in terminals`)
        else this.checkPart(node)
    }
  }

  /** Checks a part that only rules may have. */
  private checkPart(node: RulePart): void {
    const { scope, around, mistakes } = this
    switch (node.kind) {
      case "token":
        this.note(node, scope.dialect.tokensOf(node, around.tokens, this.refuse))
        return
      case "macro":
        this.checkMacro(node)
        return
      case "json": {
        const { start, end } = node.json
        const grammar = mistakes.nested(start, () => around.schema(scope.source.text.slice(start, end)))
        this.note(node, grammar && { kind: "grammar", grammar })
        return
      }
      case "nested": {
        const inner = new Scope(scope, node.statements, mistakes, around.limits.schemaDepth)
        this.note(node, { kind: "scope", scope: inner })
        new Checker(inner, mistakes, around, this.broken).check("start", node.start)
        return
      }
      case "grammar": {
        const rule = around.grammar(node.name, scope.source.path(node.start))
        if (typeof rule === "string") this.fail("syntax", node.start, rule)
        else this.note(node, { kind: "rule", rule })
        return
      }
      default:
        node satisfies never
    }
  }

  private checkMacro(node: Macro): void {
    const { scope, around, mistakes } = this
    for (const list of [...node.values, ...node.named.map(({ value }) => value)]) {
      for (const each of list.kind === "tuple" ? list.values : [])
        if (each.kind === "name") this.checkUse(each, { isTerminal: false, definition: null })
    }
    this.note(node, scope.dialect.macroOf(node, { ...around, source: scope.source, mistakes }))
  }

  /** Stores the result for a node. Null means a mistake that has been reported. */
  private note(node: Node, fact: Fact | null): void {
    if (fact !== null) this.scope.facts.set(node, fact)
  }

  private checkCounts({ counts }: Repetition): void {
    for (const word of counts) {
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
    const [min, max] = counts
    if (max !== undefined && Number(max.text) < Number(min.text))
      this.fail("syntax", max.start, `the repetition ends at ${max.text}, below its beginning ${min.text}`)
  }

  private checkLiteral(node: Literal): { value: string; ignoresCase: boolean } {
    const read = readLiteral(node, this.refuse)
    this.scope.facts.set(node, { kind: "text", ...read })
    return read
  }

  private checkRange({ first, last, start }: Node & { kind: "range" }): void {
    const [low, high] = [first, last].map((end) => this.checkRangeEnd(end))
    if (low === null || high === null) return
    if (high < low)
      this.fail("syntax", start, `the range ends at ${last.text}, before its beginning ${first.text}`)
  }

  /** Returns the code point at one end of a range; null after a mistake. */
  private checkRangeEnd(end: Literal): number | null {
    const { value, ignoresCase } = this.checkLiteral(end)
    if (ignoresCase) this.fail("syntax", end.start, "an end of a range has no suffix i")
    else if ([...value].length !== 1) this.fail("syntax", end.start, "an end of a range is one character")
    else return value.codePointAt(0) as number
    return null
  }

  /** Checks a name, a template with values, or a rule with its number. */
  private checkUse(node: Node & { kind: "name" | "template" | "call" }, position: Position): void {
    const { isTerminal, definition: around } = position
    const name: Word = node.kind === "name" ? node : node.name
    const { text, start } = name
    if (node.kind === "call") {
      checkValue(node.value, this.refuse)
      if (isTerminal) this.fail("syntax", start, "a rule with a number is allowed in rules, not in terminals")
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
      const { article } = this.scope.dialect
      if (!this.broken.has(text))
        this.fail("syntax", start, `${article}${this.scope.kindOf(text)} "${text}" is not defined`)
      return
    }
    if (isTerminal && !this.scope.isTerminal(text)) {
      this.fail("syntax", start, `the rule "${text}" is in a terminal, which may use only terminals`)
    } else if (isTerminal && around !== null) this.addTerminalUse(around.name.text, text)
    const parameters = used.kind === "definition" ? used.parameters : null
    const isParametric = used.kind === "definition" && used.isParametric
    if (node.kind === "template" && parameters === null) {
      this.fail("syntax", start, `the ${this.scope.kindOf(text)} "${text}" takes no values`)
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

  /** Checks `%regex`, which has exactly one of three keys. */
  private checkSubstring(node: Node & { kind: "substring" }): void {
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

  /**
   * Refuses terminals that use themselves, and stores an order in which each comes after those that
   * it uses.
   */
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

function stayInTerminals(operator: string): string {
  return `"${operator}" is allowed only in terminals: name this one in upper case`
}

type RulePart = Extract<Node, { kind: "token" | "macro" | "json" | "nested" | "grammar" }>

/** Returns the subject and the verb of a message about a part that only rules may have. */
function named(part: RulePart): string {
  switch (part.kind) {
    case "json":
      return "%json is allowed"
    case "nested":
      return "%lark is allowed"
    case "grammar":
      return `@${part.name}: grammars are allowed`
    default:
      return "control tokens are allowed"
  }
}

/** Returns whether a node needs the number of the rule that it is in. */
function needsNumber(root: Node): boolean {
  const open = [root]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.kind === "if" || (node.kind === "call" && usesNumber(node.value))) return true
    open.push(...nodesIn(node))
  }
  return false
}
