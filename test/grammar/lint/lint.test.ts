import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { lint, lintTargets } from "../../../grammar/index.ts"
import { tables } from "../../../grammar/lint/tables.ts"
import { Validator } from "../../support/validate.ts"

/** A rule, and a schema that shows it. Measured engines also have a text and what they did with it. */
interface Probe {
  rule: string
  /** A string is a JSON text, whose numbers are not rounded. */
  schema: unknown
  text?: string
  valid?: boolean
  /** What the engine of the table's version did; `test/bench/lint.ts` asks it. */
  engine?: "refused" | "accepted" | "rejected" | "failed"
}
const probes: Record<string, Probe[]> = JSON.parse(readFileSync("test/grammar/lint/probes.json", "utf8"))

test.each(lintTargets)(
  "each rule of %s is named for its probe, with a verdict that the engine shows",
  (target) => {
    const rules = new Map(tables[target].rules.map((rule) => [rule.id, rule]))
    const open = new Set(rules.keys())
    for (const { rule, schema, engine, valid } of probes[target]) {
      const notes = lint(schema, target).notes.filter((note) => note.rule === rule)
      expect(notes, `${rule} ${JSON.stringify(schema)}`).not.toEqual([])
      open.delete(rule)
      if (engine === undefined) continue
      const shown =
        engine === "refused" || engine === "failed"
          ? ["refused"]
          : valid
            ? ["narrowed", "wrong"]
            : ["dropped", "wrong"]
      expect(shown, `${rule} is ${notes[0].verdict}`).toContain(notes[0].verdict)
    }
    // The schemas that exceed a bound are in limits.test.ts.
    for (const id of target === "openai" ? ["depth", "longEnum"] : []) open.delete(id)
    expect([...open]).toEqual([])
  },
)

test("the labels of the probes are those of the standard", () => {
  for (const [target, rows] of Object.entries(probes)) {
    for (const { rule, schema, text, valid } of rows) {
      if (text === undefined || rule === "reference" || rule === "empty") continue
      const source = typeof schema === "string" ? schema : JSON.stringify(schema)
      expect(new Validator(source).accepts(text), `${target} ${rule}`).toBe(valid)
    }
  }
})

/** The page with its tables written anew; its text stands before the first of them. */
function page(): string {
  const text = readFileSync("docs/lint.md", "utf8").split("\n## The tables\n")[0]
  const parts = lintTargets.map((target) => {
    const { title, source, rules, totals = [] } = tables[target]
    const rows = [
      ...rules,
      ...totals.map((total) => ({ ...total, keywords: total.keyword, verdict: "refused" })),
    ]
    const lines = rows.map(({ keywords, verdict, note, source: own }) => {
      const words = keywords.split(" ").map((word) => (word === "*" ? "any" : `\`${word}\``))
      const from = own === undefined || own.url === source.url ? "" : ` ([${own.name}](${own.url}))`
      return `| ${words.join(", ")} | ${verdict} | ${note.replaceAll("|", "\\|")}${from} |`
    })
    return [
      `### ${title}\n\n\`--target ${target}\`, from [${source.name}](${source.url}).\n`,
      ...["| Keyword | Verdict | Where, and what happens |", "|---|---|---|", ...lines],
    ].join("\n")
  })
  return `${text}\n## The tables\n\n${parts.join("\n\n")}\n`
}

// After a change of a table: npx vitest run test/grammar/lint --update
test("docs/lint.md has the tables", async () => {
  await expect(page()).toMatchFileSnapshot("../../../docs/lint.md")
})
