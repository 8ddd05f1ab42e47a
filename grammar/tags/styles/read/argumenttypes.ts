/**
 * The possible types of a tool's arguments, for styles that write strings without quotes: `5` may
 * be a number or a string.
 *
 * Usually the schema of the argument decides. If it allows both, the arguments are read as values
 * other than strings, as far as the tool's schema accepts the whole.
 */
import { defaultLimits } from "../../../errors.ts"
import { formatExpr } from "../../../format/format.ts"
import { Types } from "../../../json/facts/conjunction.ts"
import { schemaPatterns } from "../../../json/read/pattern.ts"
import { metaschemaText } from "../../../json/refs/metaschemas.ts"
import { matchesText } from "../../../lexeme/expr/finite.ts"
import { rawLexeme } from "../../../lexeme/raw.ts"
import { lexemes } from "../../../lexeme/table.ts"
import { DeadState, States } from "../../../state.ts"
import { currentWorld, enter, owned } from "../../../tables.ts"
import { utf8 } from "../../../utf8.ts"
import { type ArgumentOptions, type Arguments, jsonArguments, openArguments } from "../arguments.ts"
import type { Tool } from "../tools.ts"

/** Accepts every spelling, because the grammar has already accepted the text. */
const anySpelling = { order: "any", whitespace: "any", escapes: "json", numbers: "json" } as const

/** Cache of types under default options, by tool; the least recently used entry is first. */
const known = owned("argument types", { types: new Map<string, ArgumentTypes>() }, { entryBytes: 20_000 })
const maxKnown = 64

/** Returns the types of a tool's arguments. Cached by tool. */
export function argumentTypesOf(tool: Tool, options: Partial<ArgumentOptions>): ArgumentTypes {
  if (Object.keys(options).length > 0) return new ArgumentTypes(tool, options)
  const key = JSON.stringify([tool.name, tool.schema, tool.lark])
  const types = known.types.get(key) ?? new ArgumentTypes(tool, options)
  known.types.delete(key)
  known.types.set(key, types)
  if (known.types.size > maxKnown) known.types.delete(known.types.keys().next().value as string)
  return types
}

export class ArgumentTypes {
  private readonly args: Arguments
  private readonly world = currentWorld()
  private madeStates: States | null = null

  constructor(tool: Tool, options: Partial<ArgumentOptions>) {
    this.args = openArguments(tool, {
      limits: defaultLimits,
      parts: { patterns: schemaPatterns, formats: formatExpr, metaschemas: metaschemaText },
      formats: "assert",
      unknownKeywords: "ignore",
      ...options,
      policy: anySpelling,
    })
  }

  /**
   * Returns the bits of the types that the value of this argument can have in some branch of the
   * schema.
   */
  typesOf(name: string): number {
    enter(this.world)
    const { language } = this.args
    let types = 0
    for (const value of this.valuesOf(name)) {
      for (const bit of Object.values(Types)) {
        if (language.stepsOfTypes(value, bit).length > 0) types |= bit
      }
    }
    return types
  }

  /** Returns whether the argument may be any string. */
  isAnyString(name: string): boolean {
    enter(this.world)
    const { language } = this.args
    return this.valuesOf(name).every((value) => (language.plainTypes(value).all & Types.string) !== 0)
  }

  /** Returns whether the argument can be this string in some branch of the schema. */
  takesString(name: string, text: string): boolean {
    enter(this.world)
    const { strings } = this.args.language.scalars
    return this.valuesOf(name).some(
      (value) => lexemes.tagAfter(rawLexeme(strings.content(value)), utf8(text)) !== 0,
    )
  }

  /** Returns the constraint of the argument in each branch. */
  private valuesOf(name: string): number[] {
    return this.args.specs.flatMap(({ names, classes }) => {
      const declared = names.find((each) => each.name === name)
      const values =
        declared === undefined ? classes.filter(({ expr }) => matchesText(expr, name)) : [declared]
      return values.map(({ value }) => value)
    })
  }

  /** Returns whether the tool accepts these arguments. */
  accepts(json: string): boolean {
    enter(this.world)
    this.madeStates ??= new States(jsonArguments(this.args))
    const states = this.madeStates
    const state = states.advance(states.start, utf8(json))
    return state !== DeadState && states.isAccepting(state)
  }
}
