/**
 * A suite of single constraints, with texts that are accepted, rejected, or a prefix of an accepted
 * text.
 *
 * A row of the file is `{id, kind, grammar, options?, tests: [{text, valid, prefix?}], error?}`.
 * The form of `grammar` depends on the kind: a text, a schema or a structural tag as a value, a
 * list of choices, or the fields of a request with tools. `options` are the policies in their wire
 * names, and the kind's own options (`flags`, `root`, `start`). A row with `error` must be refused.
 * Texts are read byte by byte, in every spelling that JSON has; control tokens are read as spelled.
 */
import { type CompileOptions, compile, GrammarError, type GrammarInput } from "../../runtime/index.ts"
import { byteMachine, TextChecker } from "./checker.ts"
import { describeError } from "./maskbench.ts"
import { CorpusError, membersOf, type Row, rowsOf } from "./rows.ts"

export interface GrammarRow {
  id: string
  kind: string
  /** The text of schemas and structural tags, spelt as in the file; other grammars as values. */
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

/** Kinds that hold schemas, in which the spelling of numbers and the order of keys matter. */
const keepsText: ReadonlySet<string> = new Set(["schema", "tag"])

/** Reads the rows of a `.jsonl` file, in its order. */
export async function readGrammarRows(path: string): Promise<GrammarRow[]> {
  const rows: GrammarRow[] = []
  for await (const row of rowsOf(path)) rows.push(readRow(row))
  if (rows.length === 0) throw new CorpusError(`${path} has no rows`)
  return rows
}

/** Throws `CorpusError` for a row that lacks a required member. */
function readRow(row: Row): GrammarRow {
  const { text: line } = row
  const members = membersOf(row)
  const { id, kind, grammar, options, tests, error } = JSON.parse(line)
  if (typeof id !== "string") throw new CorpusError(`${row.place}: \`id\` is missing or not a string`)
  const place = `${row.place} (${id})`
  if (typeof kind !== "string") throw new CorpusError(`${place}: \`kind\` is missing or not a string`)
  if (grammar === undefined) throw new CorpusError(`${place}: \`grammar\` is missing`)
  if (tests !== undefined && !Array.isArray(tests)) throw new CorpusError(`${place}: \`tests\` is not a list`)
  for (const [index, test] of (tests ?? []).entries()) {
    if (typeof test?.text !== "string" || typeof test.valid !== "boolean")
      throw new CorpusError(
        `${place}, test ${index + 1}: it needs \`text\`, a string, and \`valid\`, true or false`,
      )
  }
  const node = members.get("grammar")
  const isText = node === undefined || node.kind === "string"
  return {
    ...{ id, kind, options: options ?? {}, tests: tests ?? [], mustFail: error !== undefined },
    grammar: keepsText.has(kind) && !isText ? line.slice(node.start, node.end) : grammar,
  }
}

const policyNames = ["whitespace", "order", "escapes", "numbers", "formats", "open_objects"]
/** Options of a row in addition to the policies, by kind. */
const optionNames: Readonly<Record<string, readonly string[]>> = {
  regex: ["flags"],
  gbnf: ["root"],
  lark: ["start", "named"],
  grammar: ["root"],
  substring: ["unit"],
}

/** Runs a row. `policies` converts a row's options to those of the compiler. */
export function runGrammarRow(
  row: GrammarRow,
  policies: (options: Record<string, unknown>) => CompileOptions,
): GrammarResult {
  const { id } = row
  try {
    const own = optionNames[row.kind] ?? []
    const input = inputOf(row)
    const others = Object.entries(row.options).filter(([name]) => !own.includes(name))
    const strange = others.find(([name]) => !policyNames.includes(name))
    if (strange !== undefined) {
      const known = [...own, ...policyNames].join(", ")
      throw new GrammarError("unsupported", "", `option ${strange[0]} of kind ${row.kind}: use ${known}`)
    }
    const given = policies(Object.fromEntries(others))
    const compileOptions = { surface: "conform", unsatisfiable: "error", ...given } as const
    const checker = new TextChecker(byteMachine(compile(input, compileOptions).grammar))
    const tests = row.tests.map(({ text }) => {
      const { accepted, prefix } = checker.check(text)
      return { accepted, prefix }
    })
    return { id, tests }
  } catch (error) {
    return { id, refused: describeError(error) }
  }
}

function inputOf({ kind, grammar, options }: GrammarRow): GrammarInput {
  switch (kind) {
    case "schema":
      return { kind: "json", schema: grammar }
    case "regex": {
      const { flags } = options
      return { kind: "regex", pattern: textOf(kind, grammar), ...(typeof flags === "string" && { flags }) }
    }
    case "choice":
      return { kind: "choice", options: textsOf("a choice", grammar) }
    case "gbnf":
    case "grammar":
      return { kind, text: textOf(kind, grammar), ...optional("root", options.root) }
    case "lark": {
      const { start, named } = options
      const isNamed = typeof named === "object" && named !== null
      return {
        ...{ kind, text: textOf(kind, grammar), ...optional("start", start) },
        ...(isNamed && { named: named as Record<string, string> }),
      }
    }
    case "tag":
      return { kind, format: grammar }
    case "substring": {
      const fields = typeof grammar === "string" ? { text: grammar } : fieldsOf(kind, grammar)
      const { text, chunks, unit = options.unit } = fields
      if (chunks !== undefined) return { kind, chunks: textsOf("chunks", chunks) }
      if (unit !== undefined && unit !== "chars" && unit !== "words")
        throw new GrammarError("syntax", "", `unit ${JSON.stringify(unit)}: use chars or words`)
      return { kind, text: textOf(kind, text), ...(unit !== undefined && { unit }) }
    }
    case "tools": {
      const { style, ...turn } = fieldsOf(kind, grammar)
      return { kind, style: textOf("style", style), ...turn }
    }
    default:
      throw new GrammarError(
        "unsupported",
        "",
        `grammars of kind ${kind}: use schema, regex, choice, gbnf, lark, grammar, tag, substring or tools`,
      )
  }
}

function optional<Name extends string>(name: Name, value: unknown): Partial<Record<Name, string>> {
  return (typeof value === "string" ? { [name]: value } : {}) as Partial<Record<Name, string>>
}

function textOf(what: string, value: unknown): string {
  if (typeof value === "string") return value
  throw new GrammarError("syntax", "", `a ${what} is a text`)
}

function textsOf(what: string, value: unknown): string[] {
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) return value
  throw new GrammarError("syntax", "", `${what} is a list of texts`)
}

function fieldsOf(kind: string, value: unknown): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>
  throw new GrammarError("syntax", "", `a grammar of kind ${kind} is an object`)
}

/** Returns the judgement of a row's result, as a suite counts it. */
export function judgeGrammarRow(row: GrammarRow, result: GrammarResult): Judgement {
  if ("crashed" in result) return "crashed"
  if ("refused" in result) return row.mustFail ? "pass" : "refused"
  if (row.mustFail) return "wrong_accepts"
  let judgement: Judgement = "pass"
  for (const [i, { accepted, prefix }] of result.tests.entries()) {
    const expected = row.tests[i]
    // If a text is allowed but is not a prefix of an accepted one, the constraint has led to a dead
    // end.
    if ((accepted && !expected.valid) || (prefix && expected.prefix === false)) return "wrong_accepts"
    if ((!accepted && expected.valid) || (!prefix && expected.prefix === true)) judgement = "wrong_rejects"
  }
  return judgement
}

export type Judgement = "pass" | "wrong_accepts" | "wrong_rejects" | "refused" | "crashed"
