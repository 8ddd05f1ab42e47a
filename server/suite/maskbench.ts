/**
 * MaskBench: schemas with valid and invalid texts as token ids, and the verdicts of a token-level
 * engine.
 *
 * A row of a file is `{id, schema, tests: [{valid, tokens}]}`. It may have `text` or `data` in
 * place of `tokens`, which the vocabulary's own tokenizer then encodes. A directory holds one JSON
 * file for each schema, as in the benchmark's repository. A text is accepted if every token is in
 * the mask at its position, and the end of sequence is in the mask after the last. Schemas run in
 * the order of the SHA-1 of their ids, so that a thinned run is a fair sample, and in one process
 * that keeps its caches, as a server does. The corpus and the timing follow
 * guidance-ai/jsonschemabench, maskbench.
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
  /** The text of the schema, spelt as in the file. */
  schema: string
  tests: { valid: boolean; tokens: number[] }[]
}

/**
 * The output for a schema: verdicts and times, or why it was refused, or that it crashed the
 * engine.
 */
export type MaskResult =
  | {
      id: string
      /** Time from the schema text to the first filled row. */
      ttfm_us?: number
      tests: { valid: boolean; accepted: boolean; error?: string }[]
      /** For each token: time to fill the row and accept the token. */
      us?: number[]
    }
  | { id: string; refused: string }
  | { id: string; crashed: string }

/**
 * Milliseconds that a mask may take: five times the limit of a server, because suites run on all
 * cores at once. A slower mask is an error of its row.
 */
const maskMs = 5_000

/** A row that is not parsed yet. */
export interface PackedRow {
  readonly id: string
  read(): MaskRow
}

/** The width that token ids are checked against, and the tokenizer for rows without token ids. */
export interface RowTokens {
  /** Exclusive upper bound of ids. */
  readonly width: number
  /** Encodes a text; null if the vocabulary's directory has no tokenizer for it. */
  readonly encode: ((text: string) => readonly number[]) | null
}

/**
 * Returns the rows of a `.jsonl` or `.jsonl.gz` file or of a directory, in the order of the SHA-1
 * of their ids. They stay compressed until they are read, so that the corpus does not count as
 * memory of the engine. Throws `CorpusError` for the first invalid row.
 */
export async function readMaskRows(path: string, tokens: RowTokens): Promise<PackedRow[]> {
  const rows: { key: string; row: PackedRow }[] = []
  const given = (await isDirectory(path)) ? filesOf(path) : rowsOf(path)
  for await (const each of given) {
    const row = readRow(each, "name" in each ? (each.name as string) : undefined, tokens)
    // A copy, because the view that zlib returns retains its whole buffer.
    const packed = Buffer.from(deflateRawSync(JSON.stringify(row), { level: 1 }))
    rows.push({
      key: createHash("sha1").update(row.id).digest("hex"),
      row: { id: row.id, read: () => JSON.parse(inflateRawSync(packed).toString("utf8")) },
    })
  }
  if (rows.length === 0) throw new CorpusError(`${path} has no rows`)
  return rows.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ row }) => row)
}

/** Runs one schema with its texts. `timed` adds the times. */
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

/** Returns kind and message of a grammar's error; its message begins with the path. */
export function describeError(error: unknown): string {
  if (error instanceof GrammarError) return `${error.kind} ${error.message}`
  return `internal ${error instanceof Error ? error.message : String(error)}`
}

/**
 * Returns the parts of a row that a run needs. It makes little garbage, so that garbage collection
 * during a run is caused by the engine.
 */
function readRow(row: Row, name: string | undefined, tokens: RowTokens): MaskRow {
  const members = membersOf(row)
  const named = members.get("id")
  const id = named === undefined ? name : named.kind === "string" ? named.value : undefined
  if (id === undefined) throw new CorpusError(`${row.place}: \`id\` is missing or not a string`)
  const place = `${row.place} (${id})`
  const schema = members.get("schema")
  if (schema === undefined) throw new CorpusError(`${place}: \`schema\` is missing`)
  if (!["object", "true", "false"].includes(schema.kind))
    throw new CorpusError(`${place}: \`schema\` is a ${schema.kind}, not an object or a boolean`)
  const tests = members.get("tests")
  if (tests?.kind !== "array")
    throw new CorpusError(`${place}: \`tests\` is ${tests === undefined ? "missing" : "not a list"}`)
  return {
    id,
    schema: row.text.slice(schema.start, schema.end),
    tests: tests.items.map((test, index) => readTest(test, `${place}, test ${index + 1}`, tokens)),
  }
}

function readTest(test: JsonNode, place: string, tokens: RowTokens): MaskRow["tests"][number] {
  if (test.kind !== "object") throw new CorpusError(`${place}: it is not an object`)
  const valid = test.members.get("valid")?.kind
  if (valid !== "true" && valid !== "false")
    throw new CorpusError(
      `${place}: \`valid\` is ${valid === undefined ? "missing" : "neither true nor false"}`,
    )
  return { valid: valid === "true", tokens: tokensOf(test.members, place, tokens) }
}

/** Returns the token ids of a test, or those of its text. */
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
  if (given.kind !== "array") throw new CorpusError(`${place}: \`tokens\` is not a list of token ids`)
  return given.items.map((item, at) => {
    const id = item.kind === "number" ? Number(item.text) : Number.NaN
    if (Number.isInteger(id) && id >= 0 && id < width) return id
    const what = item.kind === "number" ? item.text : `a ${item.kind}`
    throw new CorpusError(
      `${place}: token ${at + 1} is ${what}, and the ids of --vocab are from 0 to ${width - 1}. Is it the tokenizer of this corpus?`,
    )
  })
}

/** Returns `text` unchanged, or `data` as Python's json.dumps writes it. */
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
