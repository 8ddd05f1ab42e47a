/**
 * The linter: which keywords of a JSON Schema another engine would refuse, drop or enforce wrongly.
 *
 * It walks the schemas that the engine reads, from the root through subschemas and references, and
 * tries the rules of the engine's table (`rules.ts`) on each keyword. It depends on the schema
 * reader only, so it runs in a browser. Cost: the length of the table, times the schema's length
 * and depth. Comparisons of branches and of patterns come on top of that, up to a fixed number of
 * them for one schema text.
 */
import { isFormat } from "../format/names.ts"
import { fromValue, type JsonNode, readJson } from "../json/read/reader.ts"
import { isSchema, type Keyword } from "../json/refs/dialect.ts"
import { SchemaGraph } from "../json/refs/refs.ts"
import { encodeToken } from "../json/refs/uri.ts"
import { compilation } from "../worlds.ts"
import { Position } from "./position.ts"
import type { LintSource, LintTarget, LintVerdict, Rule, Table } from "./rules.ts"
import { tables } from "./tables.ts"

/** What an engine does with one keyword. */
export interface LintNote {
  /** JSON pointer of the keyword, or of the schema that lacks it. */
  path: string
  keyword: string
  verdict: LintVerdict
  note: string
  source: LintSource
  /** The rule of the table. */
  rule: string
}

/** What an engine does with a schema, keyword by keyword. */
export interface LintReport {
  target: LintTarget
  /** The name of the engine. */
  title: string
  /** The version that was measured, or the date of the published rules. */
  source: LintSource
  /**
   * `refused`: the engine does not accept the schema. `lossy`: a keyword is dropped or enforced
   * wrongly. `narrowed`: only valid values are accepted, but not in every spelling or not all of
   * them. `exact`: nothing is lost.
   */
  outcome: "refused" | "lossy" | "narrowed" | "exact"
  notes: LintNote[]
}

/**
 * Reports what an engine does with a schema. A string is read as JSON text. Throws `GrammarError`
 * if the schema cannot be read.
 */
export function lint(schema: unknown, target: LintTarget): LintReport {
  const table = tables[target]
  const root = typeof schema === "string" ? readJson(schema) : fromValue(schema)
  // Patterns that are compared go to the tables of all grammars.
  const notes = compilation(() => new Linter(table).run(root))
  const verdicts = new Set(notes.map(({ verdict }) => verdict))
  const outcome = verdicts.has("refused")
    ? "refused"
    : verdicts.has("dropped") || verdicts.has("wrong")
      ? "lossy"
      : verdicts.has("narrowed")
        ? "narrowed"
        : "exact"
  return { target, title: table.title, source: table.source, outcome, notes }
}

class Linter {
  private readonly table: Table
  private readonly rules: readonly { rule: Rule; keywords: ReadonlySet<string> }[]
  private readonly notes: LintNote[] = []
  private readonly seen = new Set<number>()
  private readonly reported = new Set<string>()
  private readonly sums = new Map<string, number>()

  constructor(table: Table) {
    this.table = table
    this.rules = table.rules.map((rule) => ({ rule, keywords: new Set(rule.keywords.split(" ")) }))
  }

  run(root: JsonNode): LintNote[] {
    const graph = new SchemaGraph(root)
    const open = [new Position(graph, graph.root, "", null)]
    // Depth first, in the order of the text.
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (this.seen.has(at.node.id)) continue
      this.seen.add(at.node.id)
      open.push(...this.read(at).reverse())
    }
    return this.notes
  }

  /** Notes what becomes of the keywords of a schema. Returns the subschemas that are read. */
  private read(at: Position): Position[] {
    const below: Position[] = []
    for (const { rule, keywords } of this.rules) {
      if (rule.missing !== true) continue
      for (const keyword of keywords) {
        if (!at.has(keyword) && (rule.when?.(at, keyword) ?? true)) this.note(rule, at, keyword)
      }
    }
    this.count(at)
    for (const keyword of at.members.keys()) {
      const known = at.known(keyword)
      const isExtra = this.table.extraKeywords?.includes(keyword) ?? false
      if (at.isIdle(keyword) || (!isExtra && !isRead(known))) continue
      if (at.isOverridden && keyword !== "$ref" && !this.table.readsBesideRef) continue
      if (this.apply(at, keyword)) below.push(...subschemas(at, keyword))
    }
    return below
  }

  /** Adds the schema to the totals, and notes those that it exceeds. */
  private count(at: Position): void {
    for (const total of this.table.totals ?? []) {
      const before = this.sums.get(total.id) ?? 0
      const sum = before + total.measure(at)
      this.sums.set(total.id, sum)
      if (before <= total.bound && sum > total.bound)
        this.note({ ...total, verdict: "refused" }, at, total.keyword)
    }
  }

  /** Returns whether the engine reads what is below the keyword. */
  private apply(at: Position, keyword: string): boolean {
    // The standard ignores other formats too, so only a refusal is worth a note.
    const isIgnored = keyword === "format" && !isFormat(at.text("format") ?? "")
    for (const { rule, keywords } of this.rules) {
      if (rule.missing === true || (!keywords.has("*") && !keywords.has(keyword))) continue
      if (isIgnored && rule.verdict !== "refused") continue
      if (rule.when?.(at, keyword) === false) continue
      this.note(rule, at, keyword)
      if (rule.ends === true || rule.verdict === "refused" || rule.verdict === "dropped") return false
    }
    return true
  }

  private note(
    rule: Pick<Rule, "id" | "verdict" | "note" | "once" | "source">,
    at: Position,
    keyword: string,
  ): void {
    const { verdict, note, id, source } = rule
    if (rule.once === true && this.reported.has(id)) return
    this.reported.add(id)
    this.notes.push({
      ...{ path: at.path(keyword), keyword, verdict, note },
      ...{ source: source ?? this.table.source, rule: id },
    })
  }
}

/** Whether a keyword constrains values or leads to schemas that do. */
function isRead(keyword: Keyword | undefined): boolean {
  const role = keyword?.role
  return role === "constraint" || role === "applicator" || role === "reference"
}

function subschemas(at: Position, keyword: string): Position[] {
  if (keyword === "$ref") return at.target === null ? [] : [at.target]
  if (at.known(keyword)?.place === "none") return []
  const value = at.get(keyword) as JsonNode
  const path = at.path(keyword)
  if (value.kind === "array") {
    return value.items.flatMap((item, index) =>
      isSchema(item) ? [at.below(item, keyword, `${path}/${index}`)] : [],
    )
  }
  const place = at.known(keyword)?.place
  if (value.kind === "object" && (place === "map" || place === "mapOrStrings")) {
    return [...value.members].flatMap(([name, member]) =>
      isSchema(member) ? [at.below(member, keyword, `${path}/${encodeToken(name)}`)] : [],
    )
  }
  return isSchema(value) ? [at.below(value, keyword, path)] : []
}
