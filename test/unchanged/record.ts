/**
 * What a build of the project says, as hashes: every mask row along MaskBench's texts and along a text of every bomb, under
 * both surfaces, and the words of every refusal.
 *
 * Usage: `node dist/test/unchanged/record.js BUILD > FILE`. BUILD is a checkout with its `dist`, this one or an older one:
 * only public names are taken from it, so the same program records both. One JSON line a schema and surface.
 */
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { toText } from "../../grammar/json/read/reader.ts"
import { bombs, bombText } from "../support/bombs/bombs.ts"
import { hasMaskBench, maskBenchLines } from "../support/validate/corpora.ts"

/** What the build says of one schema under one surface. */
export interface Recorded {
  id: string
  /** Rows that were hashed. */
  rows: number
  /** Of the rows, of what was accepted, of the shortest completion, and of the report. */
  sha256: string
  /** `kind path | message` of what ended it before its end. */
  refused?: string
}

type Names = typeof import("../../runtime/index.ts")

const build = process.argv[2] ?? "."
const names: Names = await import(pathToFileURL(resolve(build, "dist/runtime/index.js")).href)
const read = (name: string) => JSON.parse(readFileSync(`runtime/embedded/${name}`, "utf8"))
const vocabulary = names.parseVocabulary(read("tokenizer.json"), read("tokenizer_config.json"), {
  endIds: [0, 2],
})
/** Token ids by the text of their bytes, one character a byte: the longest that fits is taken. */
const idOf = new Map<string, number>()
let longest = 0
for (let id = 0; id < vocabulary.width; id++) {
  const text = Buffer.from(vocabulary.bytes(id) ?? []).toString("latin1")
  if (text !== "" && !idOf.has(text)) idOf.set(text, id)
  longest = Math.max(longest, text.length)
}
const row = new Uint32Array(vocabulary.words)
/** Longer completions are cut: what they repeat is seen by then. */
const maxTokens = 2_000

for (const surface of ["generate", "conform"] as const) {
  const schemas = function* (): Generator<[id: string, schema: string, texts: string[]]> {
    if (hasMaskBench)
      for (const { id, schema, tests } of maskBenchLines())
        yield [id, toText(schema), tests.map(({ text }) => text)]
    for (const name of Object.keys(bombs)) yield [`bomb ${name}`, bombText(name), []]
  }
  for (const [id, schema, texts] of schemas()) {
    process.stdout.write(`${JSON.stringify(recorded(`${surface} ${id}`, schema, texts, surface))}\n`)
  }
}

function recorded(
  id: string,
  schema: string,
  texts: readonly string[],
  surface: "generate" | "conform",
): Recorded {
  const hash = createHash("sha256")
  const result: Recorded = { id, rows: 0, sha256: "" }
  try {
    const options = { surface, formats: "assert", unsatisfiable: "empty" } as const
    const { grammar, report } = names.compile({ kind: "json", schema }, options)
    hash.update(JSON.stringify([report.satisfiable, report.keywords]))
    // Builds older than `bindGrammar` have `TokenFsm` alone.
    const { bindGrammar = (...args) => new names.TokenFsm(...args) }: Partial<Names> = names
    const fsm = bindGrammar(grammar, vocabulary)
    for (const text of texts) walk(new names.Matcher(fsm), Buffer.from(text), hash, result)
    const matcher = new names.Matcher(fsm)
    if (report.satisfiable) walk(matcher, matcher.shortest(), hash, result)
    else walk(matcher, new Uint8Array(), hash, result)
  } catch (error) {
    const {
      kind = "internal",
      path = "",
      message,
    } = error as { kind?: string; path?: string; message: string }
    result.refused = `${kind} ${path} | ${message}`
  }
  result.sha256 = hash.digest("hex")
  return result
}

/** Hashes the rows along `bytes`, until one of its tokens is not accepted, with the one at its end. */
function walk(
  matcher: InstanceType<Names["Matcher"]>,
  bytes: Uint8Array,
  hash: ReturnType<typeof createHash>,
  result: Recorded,
): void {
  const text = Buffer.from(bytes).toString("latin1")
  const look = (): void => {
    matcher.fillMask(row)
    hash.update(row)
    result.rows++
  }
  look()
  for (let at = 0, count = 0; at < text.length && count < maxTokens; count++) {
    let length = Math.min(longest, text.length - at)
    while (!idOf.has(text.slice(at, at + length))) length--
    if (!matcher.accept(idOf.get(text.slice(at, at + length))!)) {
      hash.update(`stops at ${at}`)
      return
    }
    at += length
    look()
  }
  hash.update(`ends ${matcher.isAccepting()}`)
}
