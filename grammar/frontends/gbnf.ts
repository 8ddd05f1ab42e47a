/** Grammars in GBNF. */
import type { FrontEnd } from "../compiler.ts"
import { gbnfRule } from "../ebnf/gbnf/gbnf.ts"
import { fromRules, loadedFirst } from "./rules.ts"

/** The front end of `kind: "gbnf"`. It must be imported before the first compilation. */
export const gbnf: FrontEnd<"gbnf"> = {
  gbnf: loadedFirst("gbnf", ({ text, root }, context) =>
    fromRules("GBNF grammar", context, (rules) => gbnfRule(text, rules, { root })),
  ),
}
