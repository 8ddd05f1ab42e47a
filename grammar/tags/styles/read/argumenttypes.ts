/**
 * What the values of a tool's arguments can be, for styles that write strings without quotes: `5` may be a number or a string.
 *
 * Mostly the schema of the argument says which. Where it allows both, the arguments are read as other values than strings as
 * far as the tool's schema accepts the whole.
 */
import { defaultLimits } from "../../../errors.ts"
import { Types } from "../../../json/facts/conjunction.ts"
import { matchesText } from "../../../lexeme/expr/finite.ts"
import { NoContent } from "../../../lexeme/string/content.ts"
import { DeadState, States } from "../../../state.ts"
import { utf8 } from "../../../utf8.ts"
import { type ArgumentOptions, type Arguments, jsonArguments, openArguments } from "../arguments.ts"
import type { Tool } from "../tools.ts"

/** Every spelling: what is read back was accepted already. */
const anySpelling = { order: "any", whitespace: "any", escapes: "all", numbers: "all" } as const

export class ArgumentTypes {
  private readonly args: Arguments
  private madeStates: States | null = null

  constructor(tool: Tool, options: Partial<ArgumentOptions>) {
    this.args = openArguments(tool, {
      limits: defaultLimits,
      formats: "assert",
      unknownKeywords: "ignore",
      ...options,
      policy: anySpelling,
    })
  }

  /** Bits of the types that the value of this argument can have in some branch of the schema. */
  typesOf(name: string): number {
    const { specs, language } = this.args
    let types = 0
    for (const { names, classes } of specs) {
      const declared = names.find((each) => each.name === name)
      const values =
        declared === undefined ? classes.filter(({ expr }) => matchesText(expr, name)) : [declared]
      for (const { value } of values) {
        if (language.scalars.strings.content(value) !== NoContent) types |= Types.string
        for (const bit of Object.values(Types)) {
          if (bit !== Types.string && language.stepsOfTypes(value, bit).length > 0) types |= bit
        }
      }
    }
    return types
  }

  /** Whether the tool takes these arguments. */
  accepts(json: string): boolean {
    this.madeStates ??= new States(jsonArguments(this.args))
    const states = this.madeStates
    const state = states.advance(states.start, utf8(json))
    return state !== DeadState && states.isAccepting(state)
  }
}
