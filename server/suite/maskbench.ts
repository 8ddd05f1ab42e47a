/**
 * MaskBench: schemas with texts that are valid or not, as token ids, and what a token-level engine
 * says of them.
 *
 * A row of a file is `{id, schema, tests: [{valid, tokens}]}`, or has `text` or `data` in place of
 * `tokens`, which the vocabulary's own tokenizer splits. A directory holds one JSON file a schema,
 * as the benchmark's repository has them. A text is accepted when every token is in the mask at its
 * place and the end of sequence after the last. Schemas go through in the order of the SHA-1 of
 * their ids, so that a thinned run is a fair sample, in one process that keeps its caches, as a
 * server does. Idea of the corpus and the timing: guidance-ai/jsonschemabench, maskbench.
 */
import { createHash } from "node:crypto"
import { deflateRawSync, inflateRawSync } from "node:zlib"
import {
  compile,
  GrammarError,
  type JsonNode,
  Matcher,
  TokenFsm,
  type Vocabulary,
} from "../../runtime/index.ts"
import { CorpusError, filesOf, isDirectory, membersOf, type Row, rowsOf, UnsplitError } from "./rows.ts"

export interface MaskRow {
  id: string
  /** The schema's own text, spelt as in the file. */
  schema: string
  tests: { valid: boolean; tokens: number[] }[]
}

/**
 * What is printed for a schema: verdicts and times, or why it was refused, or that it brought the
 * engine down.
 */
export type MaskResult =
  | {
      id: string
      /** Schema text to the first filled row. */
      ttfm_us?: number
      tests: { valid: boolean; accepted: boolean; error?: string }[]
      /** Per token: fill the row, then accept. */
      us?: number[]
    }
  | { id: string; refused: string }
  | { id: string; crashed: string }

/**
 * A mask may take five times as long as a server lets it take: suites run on all cores at once.
 * What takes longer is an error of its row.
 */
const maskMs = 5_000

/** A row that is not parsed yet. */
export interface PackedRow {
  readonly id: string
  read(): MaskRow
}

/** What token ids are held against, and what splits the texts of rows that have none. */
export interface RowTokens {
  /** V: ids are below. */
  readonly width: number
  /** Null: the vocabulary's directory does not say how. */
  readonly encode: ((text: string) => readonly number[]) | null
}

/**
 * The rows of a `.jsonl` or `.jsonl.gz` file or of a directory, in the order of the SHA-1 of their
 * ids. They stay compressed until they are read, so that the corpus does not count as memory of the
 * engine. Throws `CorpusError` for the first that is broken.
 */
export async function readMaskRows(path: string, tokens: RowTokens): Promise<PackedRow[]> {
  const rows: { key: string; row: PackedRow }[] = []
  const given = (await isDirectory(path)) ? filesOf(path) : rowsOf(path)
  for await (const each of given) {
    const row = readRow(each, "name" in each ? (each.name as string) : undefined, tokens)
    // A copy: the view that zlib returns keeps its whole buffer.
    const packed = Buffer.from(deflateRawSync(JSON.stringify(row), { level: 1 }))
    rows.push({
      key: createHash("sha1").update(row.id).digest("hex"),
      row: { id: row.id, read: () => JSON.parse(inflateRawSync(packed).toString("utf8")) },
    })
  }
  if (rows.length === 0) throw new CorpusError(`${path}: there is no row in it`)
  return rows.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ row }) => row)
}

/** One schema with its texts. `timed` adds the times. */
export function runMaskRow(row: MaskRow, vocabulary: Vocabulary, timed: boolean): MaskResult {
  const mask = new Uint32Array(vocabulary.words)
  const begin = performance.now()
  let fsm: TokenFsm
  try {
    const options = { surface: "conform", formats: "assert", unsatisfiable: "empty" } as const
    const { grammar } = compile({ kind: "json", schema: row.schema }, options)
    fsm = new TokenFsm(grammar, vocabulary)
    new Matcher(fsm, { maskMs }).fillMask(mask)
  } catch (error) {
    return { id: row.id, refused: describeError(error) }
  }
  const firstMaskUs = microseconds(begin)
  const us: number[] = []
  const tests = row.tests.map(({ valid, tokens }) => {
    try {
      return { valid, ...readTokens(new Matcher(fsm, { maskMs }), tokens, mask, us) }
    } catch (error) {
      return { valid, accepted: false, error: describeError(error) }
    }
  })
  return timed ? { id: row.id, ttfm_us: firstMaskUs, tests, us } : { id: row.id, tests }
}

function readTokens(
  matcher: Matcher,
  tokens: number[],
  mask: Uint32Array,
  us: number[],
): { accepted: boolean; error?: string } {
  for (const token of tokens) {
    let begin = performance.now()
    matcher.fillMask(mask)
    const fillUs = microseconds(begin)
    if (!hasBit(mask, token)) {
      us.push(fillUs)
      return { accepted: false }
    }
    begin = performance.now()
    const accepted = matcher.accept(token)
    us.push(Math.round((fillUs + microseconds(begin)) * 100) / 100)
    if (!accepted) return { accepted: false, error: "the mask allowed a token that accept refused" }
  }
  matcher.fillMask(mask)
  return { accepted: matcher.fsm.vocabulary.endIds.some((id) => hasBit(mask, id)) }
}

/**
 * `kind path: message` of a grammar's error, which the message of the error already begins with in
 * part.
 */
export function describeError(error: unknown): string {
  if (error instanceof GrammarError) return `${error.kind} ${error.message}`
  return `internal ${error instanceof Error ? error.message : String(error)}`
}

/**
 * What is run of a row, in a form that is read with little garbage: what a run leaves for the
 * collector is the engine's.
 */
function readRow(row: Row, name: string | undefined, tokens: RowTokens): MaskRow {
  const members = membersOf(row)
  const named = members.get("id")
  const id = named === undefined ? name : named.kind === "string" ? named.value : undefined
  if (id === undefined) throw new CorpusError(`${row.place}: \`id\` is missing, or no string`)
  const place = `${row.place} (${id})`
  const schema = members.get("schema")
  if (schema === undefined) throw new CorpusError(`${place}: \`schema\` is missing`)
  if (!["object", "true", "false"].includes(schema.kind))
    throw new CorpusError(`${place}: \`schema\` is a ${schema.kind}, not an object or a boolean`)
  const tests = members.get("tests")
  if (tests?.kind !== "array")
    throw new CorpusError(`${place}: \`tests\` is ${tests === undefined ? "missing" : "no list"}`)
  return {
    id,
    schema: row.text.slice(schema.start, schema.end),
    tests: tests.items.map((test, index) => readTest(test, `${place}, test ${index + 1}`, tokens)),
  }
}

function readTest(test: JsonNode, place: string, tokens: RowTokens): MaskRow["tests"][number] {
  if (test.kind !== "object") throw new CorpusError(`${place}: it is no object`)
  const valid = test.members.get("valid")?.kind
  if (valid !== "true" && valid !== "false")
    throw new CorpusError(
      `${place}: \`valid\` is ${valid === undefined ? "missing" : "neither true nor false"}`,
    )
  return { valid: valid === "true", tokens: tokensOf(test.members, place, tokens) }
}

/** The token ids of a test, or those of its text. */
function tokensOf(
  test: ReadonlyMap<string, JsonNode>,
  place: string,
  { width, encode }: RowTokens,
): number[] {
  const given = test.get("tokens")
  if (given === undefined) {
    const text = textOf(test)
    if (text === undefined)
      throw new CorpusError(`${place}: it has no \`tokens\`, and no \`text\` or \`data\` to split`)
    if (encode !== null) return [...encode(text)]
    throw new UnsplitError(
      `${place}: it has no \`tokens\`, and --vocab has no tokenizer.json to split its text`,
    )
  }
  if (given.kind !== "array") throw new CorpusError(`${place}: \`tokens\` is no list of token ids`)
  return given.items.map((item, at) => {
    const id = item.kind === "number" ? Number(item.text) : Number.NaN
    if (Number.isInteger(id) && id >= 0 && id < width) return id
    const what = item.kind === "number" ? item.text : `a ${item.kind}`
    throw new CorpusError(
      `${place}: token ${at + 1} is ${what}, and the ids of --vocab are from 0 to ${width - 1}. Is it the tokenizer of this corpus?`,
    )
  })
}

/** `text` as it is, `data` as Python's json.dumps writes it. */
function textOf(test: ReadonlyMap<string, JsonNode>): string | undefined {
  const text = test.get("text")
  if (text?.kind === "string") return text.value
  const data = test.get("data")
  return data && spaced(data)
}

function spaced(node: JsonNode): string {
  switch (node.kind) {
    case "number":
      return node.text
    case "string":
      return JSON.stringify(node.value)
    case "array":
      return `[${node.items.map(spaced).join(", ")}]`
    case "object":
      return `{${[...node.members].map(([key, value]) => `${JSON.stringify(key)}: ${spaced(value)}`).join(", ")}}`
    default:
      return node.kind
  }
}

function hasBit(mask: Uint32Array, token: number): boolean {
  return ((mask[token >>> 5] >>> (token & 31)) & 1) === 1
}

function microseconds(since: number): number {
  return Math.round((performance.now() - since) * 100_000) / 100
}
