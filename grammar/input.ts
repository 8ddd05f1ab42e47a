/**
 * The kinds of input that a constraint may have. Missing and misspelt fields are refused, as in
 * options.
 */
import type { SubstringUnit } from "./ebnf/substring.ts"
import type { Grammar } from "./grammar.ts"
import { checkOptions, checkWord, type Field, OptionError } from "./options.ts"
import type { Turn } from "./tags/styles/plan.ts"

/** A constraint: the input of `compile`. */
export type GrammarInput =
  /**
   * A schema as a value, or as a JSON text, which keeps number spelling and key order. `strict` is
   * as in OpenAI's requests; it makes `openObjects` declared unless the options set it. With a
   * `source`, strings are copied from it: those whose schema says `"x-copied": true` (or "chars",
   * "words"), and those that leave it open, with `type` but without `enum`, `const`, `format`,
   * `pattern` and `"x-copied": false`.
   */
  | { kind: "json"; schema: unknown; strict?: boolean; source?: string }
  /** A full match of an ECMAScript regular expression. */
  | { kind: "regex"; pattern: string; flags?: string }
  /** One of these texts. */
  | { kind: "choice"; options: readonly string[] }
  /**
   * A grammar in GBNF, or EBNF as XGrammar writes it. It begins with rule `root`, by default the
   * rule named `root`.
   */
  | { kind: "gbnf"; text: string; root?: string }
  /**
   * A grammar in the Lark dialect. It begins with rule `start`. `named` are the grammars that its
   * text refers to as `@name`.
   */
  | { kind: "lark"; text: string; start?: string; named?: Readonly<Record<string, string | GrammarInput>> }
  /**
   * A grammar in GBNF or Lark; its first definition decides which. `root` is the rule where it
   * begins.
   */
  | { kind: "grammar"; text: string; root?: string }
  /** A structural tag as an object or its JSON text: free text, and what it switches to. */
  | { kind: "tag"; format: unknown }
  /** An assistant's turn: text, and calls of tools in the style of a family of models. */
  | ({ kind: "tools"; response_format?: Grammar | GrammarInput | null } & Omit<
      Turn,
      "response_format" | "hasFormat"
    >)
  /** Any run of consecutive pieces of a text: its characters, its words, or the given chunks. */
  | { kind: "substring"; text: string; unit?: SubstringUnit }
  | { kind: "substring"; chunks: readonly string[] }

type Kinds = GrammarInput["kind"]
/** The fields of all inputs of a kind. */
type NamesOf<Input> = Input extends unknown ? keyof Input : never

interface InputFields<Name extends PropertyKey = string> {
  readonly fields: { readonly [Each in Name]: Field }
  /** At least one of these fields is required. */
  readonly needs: readonly Name[]
}

const inputs: { readonly [Kind in Kinds]: InputFields<NamesOf<Extract<GrammarInput, { kind: Kind }>>> } = {
  json: {
    fields: { kind: "text", schema: "any", strict: "boolean", source: "text" },
    needs: ["schema"],
  },
  regex: { fields: { kind: "text", pattern: "text", flags: "text" }, needs: ["pattern"] },
  choice: { fields: { kind: "text", options: "texts" }, needs: ["options"] },
  gbnf: { fields: { kind: "text", text: "text", root: "text" }, needs: ["text"] },
  lark: { fields: { kind: "text", text: "text", start: "text", named: "object" }, needs: ["text"] },
  grammar: { fields: { kind: "text", text: "text", root: "text" }, needs: ["text"] },
  tag: { fields: { kind: "text", format: "any" }, needs: ["format"] },
  tools: {
    fields: {
      ...{ kind: "text", style: "text", tools: "list", tool_choice: "any", parallel_tool_calls: "boolean" },
      ...{ max_tool_calls: "number", calls_before: "number", reasoning: "object", response_format: "object" },
      // For the reader of the turn.
      ...{ hasFormat: "boolean" },
    },
    needs: ["style"],
  },
  substring: {
    fields: { kind: "text", text: "text", unit: { words: ["chars", "words"] }, chunks: "texts" },
    needs: ["text", "chunks"],
  },
}

const kinds = Object.keys(inputs)

/** Throws OptionError, which names the field. */
export function checkInput(input: GrammarInput): void {
  if (typeof input !== "object" || input === null)
    throw new OptionError("input", `${input} is not a constraint`)
  const { kind } = input
  checkWord("kind", kind, kinds)
  const { fields, needs }: InputFields = inputs[kind]
  checkOptions(input, fields)
  const isThere = (name: string): boolean => (input as unknown as Record<string, unknown>)[name] !== undefined
  if (needs.some(isThere)) return
  const [name] = needs
  throw new OptionError(
    name,
    `it is ${name in input ? "undefined" : "missing"}, and a constraint of kind ${kind} is about it`,
  )
}
