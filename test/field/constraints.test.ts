/**
 * Constraints of real programs that once failed: schemas, patterns, grammars and tags with the texts that they must accept and
 * reject. A row may ask for a refusal of kind `limit` instead, or allow one. Skipped where `../shared` is absent.
 */
import { existsSync, readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { compile, GrammarError, type GrammarInput } from "../../grammar/index.ts"
import { TokenFsm } from "../../mask/index.ts"
import { acceptsText, vocabularyOf } from "../support/oracle.ts"

interface FieldRow {
  id: string
  kind: "schema" | "regex" | "gbnf" | "tag"
  input: unknown
  valid: string[]
  invalid: string[]
  note: string
  /** A refusal of this kind is the only right answer. */
  expect?: "limit"
}

/** Texts that a row calls invalid, and that its pattern matches in every dialect: `Z` and `pL` are letters. */
const matched: Readonly<Record<string, string>> = { "dialect-0": '"my-slugZ"', "dialect-6": '"pL"' }

const bytes = vocabularyOf(Array.from({ length: 256 }, (_, byte) => byte))
const path = "../shared/data/field/constraints.jsonl"
const rows: FieldRow[] = existsSync(path)
  ? readFileSync(path, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line))
  : []

describe.skipIf(rows.length === 0)("constraints of real programs", () => {
  test.each(rows.map((row) => [row.id, row] as const))("%s", (_, row) => {
    const mayRefuse = row.expect === "limit" || row.note.includes("or a limit error")
    try {
      const fsm = new TokenFsm(compile(inputOf(row), { escapes: "all" }).grammar, bytes)
      expect(row.expect, "a refusal of this kind").toBe(undefined)
      for (const text of row.valid) expect(acceptsText(fsm, text), `accepts ${text}`).toBe(true)
      const invalid = row.invalid.filter((text) => text !== matched[row.id])
      for (const text of invalid) expect(acceptsText(fsm, text), `accepts ${text}`).toBe(false)
    } catch (error) {
      if (!(error instanceof GrammarError && mayRefuse)) throw error
      expect(error.kind, error.message).toBe("limit")
    }
  })
})

function inputOf({ kind, input }: FieldRow): GrammarInput {
  switch (kind) {
    case "schema":
      return { kind: "json", schema: input }
    case "regex":
      return { kind: "regex", pattern: input as string }
    case "gbnf":
      return { kind: "gbnf", text: input as string }
    case "tag":
      return { kind: "tag", format: input }
    default:
      return kind satisfies never
  }
}
