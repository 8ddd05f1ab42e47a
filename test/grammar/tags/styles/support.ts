/**
 * A third reading of the wire forms, for tests: calls written as a model would, with every choice that a form leaves made at
 * random, in pieces of which it is known whether they belong to the wrapper.
 */

import { Rules } from "../../../../grammar/ebnf/rules.ts"
import { defaultLimits } from "../../../../grammar/errors.ts"
import { formats } from "../../../../grammar/frontends/formats.ts"
import { regex } from "../../../../grammar/frontends/regex.ts"
import type { Grammar } from "../../../../grammar/grammar.ts"
import { DeadState, States } from "../../../../grammar/state.ts"
import type { ArgumentOptions } from "../../../../grammar/tags/styles/arguments.ts"
import type { Turn } from "../../../../grammar/tags/styles/plan.ts"
import type { Block, JsonType, Style } from "../../../../grammar/tags/styles/style.ts"
import { toolsRule } from "../../../../grammar/tags/styles/turn.ts"
import type { Part, Wire } from "../../../../grammar/tags/styles/wire.ts"

export const options: ArgumentOptions = {
  policy: { order: "schema", whitespace: "bounded", escapes: "canonical", numbers: "plain" },
  limits: defaultLimits,
  parts: { ...regex, ...formats },
  formats: "assert",
  unknownKeywords: "ignore",
}

export type Arguments = Record<string, unknown>

export interface Call {
  name: string
  arguments: Arguments
}

/** A piece of a text; `isFixed`: its form says what stands here, and nothing else may. */
export interface Piece {
  text: string
  isFixed: boolean
}

export function tool(name: string, parameters?: unknown): unknown {
  return { type: "function", function: { name, parameters } }
}

export function turnGrammar(turn: Turn, more: Partial<ArgumentOptions> = {}): Grammar {
  const rules = new Rules(defaultLimits)
  const rule = toolsRule(turn, rules, { ...options, ...more })
  const grammar = rules.grammar(rule, { key: () => "", title: "" })
  if (grammar === null) throw new Error("a turn has some text")
  return grammar
}

/** What is said of a text by the grammar of a turn. */
export class Reader {
  readonly states: States

  constructor(grammar: Grammar) {
    this.states = new States(grammar)
  }

  accepts(text: string): boolean {
    const state = this.states.advance(this.states.start, new TextEncoder().encode(text))
    return state !== DeadState && this.states.isAccepting(state)
  }
}

export function written(pieces: readonly Piece[]): string {
  return pieces.map(({ text }) => text).join("")
}

/** Writes calls of a style. */
export class Writer {
  private readonly random: () => number
  private pieces: Piece[] = []

  constructor(random: () => number) {
    this.random = random
  }

  /** All `calls` in block `at`. */
  calls(style: Style, at: number, calls: readonly Call[]): Piece[] {
    this.pieces = []
    const block = style.blocks[at]
    this.wire(block.begin ?? [], block)
    for (const [i, call] of calls.entries()) {
      if (i > 0) this.wire(block.between ?? [], block)
      if (i > 0 && style.messages !== undefined && block.end === undefined) {
        this.add(style.messages.between, true)
      }
      this.wire(block.call, block, call, i)
    }
    this.wire(block.end ?? [], block)
    this.add(style.messages?.end ?? "", true)
    return this.pieces
  }

  private add(text: string, isFixed: boolean): void {
    if (text !== "") this.pieces.push({ text, isFixed })
  }

  private wire(form: Wire, block: Block, call?: Call, index = 0): void {
    for (const part of form) this.part(part, block, call, index)
  }

  private part(part: Part, block: Block, call: Call | undefined, index: number): void {
    switch (part.kind) {
      case "text":
        this.add(part.text, true)
        return
      case "name":
        this.add(call!.name, false)
        return
      case "json":
        this.add(this.json(call!.arguments), false)
        return
      case "parameters":
        this.parameters(block, call!.arguments)
        return
      case "index":
        this.add(String(part.first + index), true)
        return
      case "letters":
        this.add("aB3dE6gH9jK2".slice(0, part.count), false)
        return
      case "id":
        this.wire(part.wire, block, call, index)
        return
      case "optional":
        if (this.random() < 0.5) this.wire(part.wire, block, call, index)
        return
      case "either":
        this.wire(part.wires[Math.floor(this.random() * part.wires.length)], block, call, index)
        return
      default:
        throw new Error(`${part.kind} outside of a parameter`)
    }
  }

  private parameters(block: Block, args: Arguments): void {
    const { forms, padding = "", none = "", between = "", notation } = block.parameter!
    const entries = Object.entries(args)
    if (entries.length === 0 && this.random() < 0.5) this.add(none, false)
    for (const [i, [key, value]] of entries.entries()) {
      if (i > 0) this.add(between, true)
      const form = forms.find(({ types }) => types.includes(typeOf(value)))!
      for (const part of form.wire) {
        if (part.kind === "key") this.add(key, false)
        else if (part.kind !== "value") this.part(part, block, undefined, 0)
        else if (notation === "python")
          this.add(this.random() < 0.3 ? this.json(value) : python(value), false)
        else if (typeof value === "string") {
          // Without padding a string could begin or end like it.
          const isPadded = padding !== "" && (/^\n|\n$/.test(value) || this.random() < 0.7)
          this.add(isPadded ? padding + value + padding : value, false)
        } else {
          // Where it stands, a digit would be a part of a number.
          const pad = this.random() < 0.7 ? padding : ""
          this.add(pad + this.json(value) + pad, false)
        }
      }
    }
  }

  /** As Python's json.dumps, or as JSON.stringify. */
  private json(value: unknown): string {
    return this.random() < 0.5 ? JSON.stringify(value) : spaced(value)
  }
}

function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(", ")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  return `{${Object.entries(value)
    .map(([key, member]) => `${JSON.stringify(key)}: ${spaced(member)}`)
    .join(", ")}}`
}

function typeOf(value: unknown): JsonType {
  if (value === null) return "null"
  if (Array.isArray(value)) return "array"
  return typeof value as JsonType
}

/** As Python's repr. */
function python(value: unknown): string {
  if (value === null) return "None"
  if (typeof value === "boolean") return value ? "True" : "False"
  if (Array.isArray(value)) return `[${value.map(python).join(", ")}]`
  if (typeof value === "object") {
    return `{${Object.entries(value)
      .map(([key, member]) => `${python(key)}: ${python(member)}`)
      .join(", ")}}`
  }
  if (typeof value !== "string") return JSON.stringify(value)
  const body = value.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")
  return value.includes("'") && !value.includes('"') ? `"${body}"` : `'${body.replaceAll("'", "\\'")}'`
}
