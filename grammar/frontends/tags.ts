/** Structural tags, and turns of an assistant that calls tools. */
import { type Compiled, type Context, compileInner, type FrontEnd } from "../compiler.ts"
import { GrammarError } from "../errors.ts"
import { Grammar } from "../grammar.ts"
import type { GrammarInput } from "../input.ts"
import { inThisWorld } from "../remade.ts"
import type { KeywordNote } from "../report.ts"
import { toolsRule } from "../tags/styles/turn.ts"
import { tagRule } from "../tags/tags.ts"
import { formats } from "./formats.ts"
import { json } from "./json.ts"
import { lark } from "./lark.ts"
import { metaschemas } from "./metaschemas.ts"
import { regex } from "./regex.ts"
import { fromRules, loadedFirst } from "./rules.ts"

type InputOfKind<Kind> = Extract<GrammarInput, { kind: Kind }>

function compileTag({ format }: InputOfKind<"tag">, context: Context): Compiled {
  return fromRules("structural tag", context, (rules) => tagRule(format, rules, context.json))
}

function compileTurn(input: InputOfKind<"tools">, context: Context): Compiled {
  const { options, json, notes } = context
  const lark = (text: string) => compileInner({ kind: "lark", text }, context).grammar
  const { response_format: format = null } = input
  const compileFormat = (nested: GrammarInput) => {
    const { grammar, report } = compileInner(nested, context)
    notes.push(() => report.keywords.map((note) => ({ ...note, path: `response_format${note.path}` })))
    return grammar
  }
  const answer =
    format instanceof Grammar
      ? inThisWorld(format)
      : format === null
        ? null
        : answerOf(() => compileFormat(format))
  return fromRules(`turn in the style ${input.style}`, context, (rules) => {
    const openObjects = options.openObjects ?? "declared"
    const note = (make: () => KeywordNote[]) => notes.push(make)
    return toolsRule({ ...input, response_format: answer }, rules, { ...json, openObjects, lark, note })
  })
}

/**
 * Returns the grammar of an answer without calls. Marks its errors, to distinguish them from those
 * of the tools.
 */
function answerOf(compileFormat: () => Grammar): Grammar {
  try {
    return compileFormat()
  } catch (error) {
    // The place at which a compilation ran out of time says nothing about the answer.
    if (!(error instanceof GrammarError) || error.constructor !== GrammarError) throw error
    const message = error.path === "" ? error.message : error.message.slice(error.path.length + 2)
    throw new GrammarError(error.kind, `response_format${error.path}`, message)
  }
}

/**
 * The front ends of `kind: "tag"` and `kind: "tools"`, and those of all that their formats may
 * contain. They must be imported before the first compilation.
 */
export const tags: FrontEnd<
  "json" | "regex" | "patterns" | "formats" | "metaschemas" | "lark" | "grammar" | "tag" | "tools"
> = {
  ...json,
  ...regex,
  ...formats,
  ...metaschemas,
  ...lark,
  tag: loadedFirst("tag", compileTag),
  tools: loadedFirst("tools", compileTurn),
}
