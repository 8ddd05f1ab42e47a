/**
 * MaskBench: schemas with texts that are valid or not, as token ids, and what a token-level engine says of them.
 *
 * A row of the file is `{id, schema, tests: [{valid, text, tokens}]}`. A text is accepted when every token is in the mask
 * at its place and the end of sequence after the last. Schemas go through in the order of the SHA-1 of their ids, so that
 * a thinned run is a fair sample, in one process that keeps its caches, as a server does. Idea of the corpus and the
 * timing: guidance-ai/jsonschemabench, maskbench.
 */
import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import { createGunzip, deflateRawSync, inflateRawSync } from "node:zlib"
import { compile, GrammarError, Matcher, readJson, TokenFsm, type Vocabulary } from "../../runtime/index.ts"

export interface MaskRow {
  id: string
  /** The schema's own text, spelt as in the file. */
  schema: string
  tests: { valid: boolean; tokens: number[] }[]
}

/** What is printed for a schema: verdicts and times, or why it was refused, or that it brought the engine down. */
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

/** A mask may take five times as long as a server lets it take: suites run on all cores at once. What takes longer is an error of its row. */
const maskMs = 5_000

/** A row that is not parsed yet. */
export interface PackedRow {
  readonly id: string
  read(): MaskRow
}

/**
 * The rows of a `.jsonl` or `.jsonl.gz` file, in the order of the SHA-1 of their ids. They stay compressed until they
 * are read: the corpus is no part of the memory that an engine takes.
 */
export async function readMaskRows(path: string): Promise<PackedRow[]> {
  const rows: { key: string; row: PackedRow }[] = []
  for await (const line of linesOf(path)) {
    const row = parseRow(line)
    // A copy: the view that zlib returns keeps its whole buffer.
    const packed = Buffer.from(deflateRawSync(JSON.stringify(row), { level: 1 }))
    rows.push({
      key: createHash("sha1").update(row.id).digest("hex"),
      row: { id: row.id, read: () => JSON.parse(inflateRawSync(packed).toString("utf8")) },
    })
  }
  return rows.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ row }) => row)
}

/** The lines of a text file, compressed or not, but empty ones. */
async function* linesOf(path: string): AsyncGenerator<string> {
  const file = createReadStream(path)
  const text = path.endsWith(".gz")
    ? file.once("error", (error) => text.destroy(error)).pipe(createGunzip())
    : file
  text.setEncoding("utf8")
  let rest = ""
  for await (const chunk of text) {
    const lines = (rest + chunk).split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) if (line.trim() !== "") yield line
  }
  if (rest.trim() !== "") yield rest
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

/** `kind path: message` of a grammar's error, which the message of the error already begins with in part. */
export function describeError(error: unknown): string {
  if (error instanceof GrammarError) return `${error.kind} ${error.message}`
  return `internal ${error instanceof Error ? error.message : String(error)}`
}

/** What is run of a row, in a form that is read with little garbage: what a run leaves for the collector is the engine's. */
function parseRow(line: string): MaskRow {
  // A key that comes twice in a schema is for the compiler to judge.
  const root = readJson(line, { duplicateKeys: "last" })
  if (root.kind !== "object") throw new TypeError("a row of MaskBench is an object")
  const { start, end } = root.members.get("schema")!
  const { id, tests }: MaskRow = JSON.parse(line)
  return { id, schema: line.slice(start, end), tests: tests.map(({ valid, tokens }) => ({ valid, tokens })) }
}

function hasBit(mask: Uint32Array, token: number): boolean {
  return ((mask[token >>> 5] >>> (token & 31)) & 1) === 1
}

function microseconds(since: number): number {
  return Math.round((performance.now() - since) * 100_000) / 100
}
