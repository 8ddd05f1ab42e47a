/**
 * A suite of single constraints: texts that are accepted, rejected, or the beginning of an accepted text.
 *
 * A row of the file is `{id, kind, grammar, options?, tests: [{text, valid, prefix?}], error?}`. `grammar` is a text, a
 * schema as a value, or a list of choices; `options` are the policies that the wire names, and `flags` of a regular
 * expression. A row with `error` must be refused. Texts are read byte by byte, in every spelling that JSON has.
 */
import { readFile } from "node:fs/promises"
import {
  type CompileOptions,
  compile,
  GrammarError,
  type GrammarInput,
  readJson,
} from "../../runtime/index.ts"
import { byteMachine, TextChecker } from "./checker.ts"
import { describeError } from "./maskbench.ts"

export interface GrammarRow {
  id: string
  kind: string
  /** A schema's own text, spelt as in the file; other grammars as values. */
  grammar: unknown
  options: Record<string, unknown>
  tests: { text: string; valid: boolean; prefix?: boolean }[]
  /** Whether the constraint must be refused. */
  mustFail: boolean
}

export type GrammarResult =
  | { id: string; tests: { accepted: boolean; prefix: boolean }[] }
  | { id: string; refused: string }
  | { id: string; crashed: string }

/** The rows of a `.jsonl` file, in its order. */
export async function readGrammarRows(path: string): Promise<GrammarRow[]> {
  const lines = (await readFile(path, "utf8")).split("\n").filter((line) => line.trim() !== "")
  return lines.map((line) => {
    const { id, kind, grammar, options, tests, error } = JSON.parse(line)
    const root = readJson(line, { duplicateKeys: "last" })
    const node = root.kind === "object" ? root.members.get("grammar") : undefined
    const isText = node === undefined || node.kind === "string"
    return {
      ...{ id, kind, options: options ?? {}, tests: tests ?? [], mustFail: error !== undefined },
      grammar: kind === "schema" && !isText ? line.slice(node.start, node.end) : grammar,
    }
  })
}

const known = ["whitespace", "order", "escapes", "numbers", "formats"]

/** `policies` reads a row's options as the compiler takes them. */
export function runGrammarRow(
  row: GrammarRow,
  policies: (options: Record<string, unknown>) => CompileOptions,
): GrammarResult {
  const { id } = row
  try {
    const { flags, ...options } = row.options
    const strange = Object.keys(options).find((name) => !known.includes(name))
    if (strange !== undefined)
      throw new GrammarError("unsupported", "", `option ${strange}: use flags, ${known.join(", ")}`)
    const compileOptions = { surface: "conform", unsatisfiable: "error", ...policies(options) } as const
    const checker = new TextChecker(byteMachine(compile(inputOf(row, flags), compileOptions).grammar))
    const tests = row.tests.map(({ text }) => {
      const { accepted, prefix } = checker.check(text)
      return { accepted, prefix }
    })
    return { id, tests }
  } catch (error) {
    return { id, refused: describeError(error) }
  }
}

function inputOf({ kind, grammar }: GrammarRow, flags: unknown): GrammarInput {
  switch (kind) {
    case "schema":
      return { kind: "json", schema: grammar }
    case "regex":
      if (typeof grammar !== "string") throw new GrammarError("syntax", "", "a regex is a text")
      return { kind: "regex", pattern: grammar, ...(typeof flags === "string" && { flags }) }
    case "choice": {
      const isList = Array.isArray(grammar) && grammar.every((option) => typeof option === "string")
      if (!isList) throw new GrammarError("syntax", "", "a choice is a list of texts")
      return { kind: "choice", options: grammar }
    }
    default:
      throw new GrammarError("unsupported", "", `grammars of kind ${kind}: use schema, regex or choice`)
  }
}

/** What a row's result is worth: as a suite counts it. */
export function judgeGrammarRow(row: GrammarRow, result: GrammarResult): Judgement {
  if ("crashed" in result) return "crashed"
  if ("refused" in result) return row.mustFail ? "pass" : "refused"
  if (row.mustFail) return "wrong_accepts"
  let judgement: Judgement = "pass"
  for (const [i, { accepted, prefix }] of result.tests.entries()) {
    const expected = row.tests[i]
    // What begins nothing and is offered all the same is a dead end.
    if ((accepted && !expected.valid) || (prefix && expected.prefix === false)) return "wrong_accepts"
    if ((!accepted && expected.valid) || (!prefix && expected.prefix === true)) judgement = "wrong_rejects"
  }
  return judgement
}

export type Judgement = "pass" | "wrong_accepts" | "wrong_rejects" | "refused" | "crashed"
