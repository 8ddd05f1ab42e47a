/**
 * How well the embedded model fills in forms, through the real engine: held-out texts made by the generator
 * (`heldout.jsonl`), texts written by hand by the author of the generator (`handwritten.jsonl`), and by somebody who has seen
 * neither it nor its texts (`byothers.jsonl`); greedy, with the constraint and without.
 *
 * Whole: the answer equals the expected value. Field: a leaf of the expected value is there, at its path, with an equal
 * value. Label: a field whose schema lists its values. Valid: with the constraint, the engine finished it; without, it
 * parses as JSON and has the expected paths. Plain answers are whole when the text is the expected one. Held-out texts are
 * scored together and by their source. Usage:
 * `npx tsc -p test/eval && node dist/test/eval/embedded.js [model directory [kind]]`.
 */

import { readFileSync } from "node:fs"
import { type Engine, type Message, open } from "../../runtime/index.ts"

interface Example {
  kind: string
  /** Of held-out texts: put together of templates and clauses, or written as a whole. */
  source?: string
  messages: Message[]
  schema?: Record<string, unknown>
  tools?: { function: { name: string; parameters: Record<string, unknown> } }[]
  /** The right answer's text. */
  answer: string
}

interface Tally {
  texts: number
  valid: number
  whole: number
  leaves: number
  rightLeaves: number
  labels: number
  rightLabels: number
  /** Tool calls: the name is right. */
  named: number
  tokens: number
  decodeMs: number
}

const zero: Tally = {
  texts: 0,
  valid: 0,
  whole: 0,
  leaves: 0,
  rightLeaves: 0,
  labels: 0,
  rightLabels: 0,
  named: 0,
  tokens: 0,
  decodeMs: 0,
}
const keys = Object.keys(zero) as (keyof Tally)[]

const maxTokens = 400

/** Leaves by path; an empty array or object is a leaf. */
function leavesOf(value: unknown, path = "", leaves = new Map<string, unknown>()): Map<string, unknown> {
  const entries = typeof value === "object" && value !== null ? Object.entries(value) : []
  for (const [key, item] of entries) leavesOf(item, `${path}/${key}`, leaves)
  if (entries.length === 0) leaves.set(path, JSON.stringify(value))
  return leaves
}

interface Schema {
  enum?: unknown[]
  items?: Schema
  properties?: Record<string, Schema>
}

/** Whether the schema lists the values of the leaf at this path. */
function isLabel(schema: Schema, path: string): boolean {
  let at: Schema | undefined = schema
  for (const key of path.split("/").slice(1)) at = at?.items ?? at?.properties?.[key]
  return at?.enum !== undefined
}

/** The JSON inside a tool call, else the text itself. */
function bodyOf(text: string): string {
  return text.replace(/^\s*<tool_call>\s*/, "").replace(/\s*<\/tool_call>\s*$/, "")
}

function parse(text: string): unknown {
  try {
    return JSON.parse(bodyOf(text))
  } catch {
    return undefined
  }
}

/** What the engine may write: the schema, or a call of one of the tools. */
function schemaOf({ schema, tools }: Example): unknown {
  if (schema) return schema
  return {
    anyOf: tools!.map(({ function: { name, parameters } }) => ({
      type: "object",
      properties: { name: { const: name }, arguments: parameters },
      required: ["name", "arguments"],
      additionalProperties: false,
    })),
  }
}

async function answer(engine: Engine, example: Example, isConstrained: boolean) {
  const { messages, tools } = example
  // The mark of a call is the prompt's last word, so that the constraint is the call's JSON alone.
  const prompt = engine.tokenizer.template.render(messages, { tools })
  const start = performance.now()
  const generation = await engine.start(isConstrained && tools ? `${prompt}<tool_call>\n` : prompt, {
    raw: true,
    temperature: 0,
    maxTokens,
    // An answer that will not end is closed within the budget: what the constraint promises, a cut text would not keep.
    ...(isConstrained ? { schema: schemaOf(example), onLength: "close" } : {}),
  })
  // Not `generate`: an answer that the budget cut is a result here, not an error.
  const result = await generation.result
  return { result, elapsedMs: performance.now() - start }
}

async function score(engine: Engine, example: Example, isConstrained: boolean): Promise<Tally> {
  const { result, elapsedMs } = await answer(engine, example, isConstrained)
  const tally = { ...zero, texts: 1, tokens: result.usage.completionTokens, decodeMs: elapsedMs }
  if (example.kind === "plain") return { ...tally, whole: Number(result.text === example.answer) }
  const wanted = JSON.parse(bodyOf(example.answer)) as { name?: string }
  const found = parse(result.text) as { name?: string } | undefined
  const right = leavesOf(wanted)
  const got = leavesOf(found)
  if (example.tools) right.delete("/name")
  const called = example.tools?.find((tool) => tool.function.name === wanted.name)
  const schema = called ? { properties: { arguments: called.function.parameters } } : example.schema!
  const matches = [...right].filter(([path, leaf]) => got.get(path) === leaf)
  const isRightTool = !example.tools || found?.name === wanted.name
  const isComplete = found !== undefined && [...right.keys()].every((path) => got.has(path))
  const isFinished = result.finishReason === "stop" && found !== undefined
  return {
    ...tally,
    valid: Number(isConstrained ? isFinished : isComplete),
    whole: Number(matches.length === right.size && isRightTool),
    leaves: right.size,
    rightLeaves: matches.length,
    labels: [...right].filter(([path]) => isLabel(schema as Schema, path)).length,
    rightLabels: matches.filter(([path]) => isLabel(schema as Schema, path)).length,
    named: Number(isRightTool),
  }
}

function sum(tallies: readonly Tally[]): Tally {
  const total = { ...zero }
  for (const tally of tallies) for (const key of keys) total[key] += tally[key]
  return total
}

function read(name: string): Example[] {
  const text = readFileSync(`test/eval/${name}.jsonl`, "utf8")
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Example)
}

/** The schema in a system message, for texts that come without. */
function withSchema(example: Example): Example {
  const content = `JSON schema: ${JSON.stringify(example.schema)}`
  return {
    ...example,
    kind: `${example.kind} + schema`,
    messages: [{ role: "system", content }, ...example.messages],
  }
}

const percent = (part: number, total: number) => `${((100 * part) / Math.max(1, total)).toFixed(1)} %`

const engine = await open({ model: process.argv[2] || undefined, device: "cpu" })
const hand = read("handwritten")
const others = read("byothers").map((example) => ({ ...example, kind: "others" }))
const all = [...read("heldout"), ...hand, ...hand.map(withSchema), ...others, ...others.map(withSchema)]
console.log(
  "| kind | constraint | texts | valid | whole | fields | labels | tool name | tokens/s |\n|---|---|---|---|---|---|---|---|---|",
)
for (const kind of new Set(all.map((example) => example.kind))) {
  if (process.argv[3] && kind !== process.argv[3]) continue
  const examples = all.filter((example) => example.kind === kind)
  for (const isConstrained of [true, false]) {
    // Without schema and constraint nothing tells the keys.
    if (!isConstrained && ["bare", "hand", "others"].includes(kind)) continue
    if (isConstrained && kind === "plain") continue
    const tallies: { source?: string; tally: Tally }[] = []
    for (const example of examples) {
      tallies.push({ source: example.source, tally: await score(engine, example, isConstrained) })
    }
    const sources = new Set(examples.flatMap(({ source }) => source ?? []))
    for (const source of [undefined, ...[...sources].sort()]) {
      const t = sum(tallies.filter((scored) => !source || scored.source === source).map(({ tally }) => tally))
      const isPlain = kind === "plain"
      const name = examples[0].tools ? percent(t.named, t.texts) : "–"
      const speed = ((1000 * t.tokens) / t.decodeMs).toFixed(0)
      console.log(
        `| ${source ? `${kind}, ${source}` : kind} | ${isConstrained ? "on" : "off"} | ${t.texts} | ` +
          `${isPlain ? "–" : percent(t.valid, t.texts)} | ${percent(t.whole, t.texts)} | ` +
          `${isPlain ? "–" : percent(t.rightLeaves, t.leaves)} | ` +
          `${t.labels > 0 ? percent(t.rightLabels, t.labels) : "–"} | ${name} | ${speed} |`,
      )
    }
  }
}
await engine.close()
