/**
 * The package `tokenrail-masks`, beside `@mlc-ai/web-xgrammar`: what a page loads by entry, and
 * what the first mask of a fresh process costs, by part. The table of docs/masks-package.md is its
 * output.
 *
 * Usage: `node dist/test/bench/masks.js --tokenizer FILE/tokenizer.json [--rounds 9]`. Needs the
 * registry, or npm's cache, for web-xgrammar; it is left out where neither has it. Times are
 * medians over fresh processes, in milliseconds of the processor in all threads, which other
 * programs on the machine change less than the time on the clock. The start of Node is not counted.
 */
import { execFileSync, spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { parseArgs } from "node:util"
import { gzipSync } from "node:zlib"
import { build as esbuild } from "esbuild"
import { build } from "vite"
import { parseVocabulary, serializeVocabulary } from "../../mask/index.ts"
import { quantile } from "../../runtime/engine/metrics.ts"

const { values: flags } = parseArgs({
  options: { tokenizer: { type: "string" }, rounds: { type: "string", default: "9" } },
})

const names = ["id", "name", "email", "age", "score", "tags", "street", "city", "active", "note"]
const types = [
  "integer",
  "string",
  "string",
  "integer",
  "number",
  "array",
  "string",
  "string",
  "boolean",
  "string",
]
/** A closed object with ten required fields. */
const schema = JSON.stringify({
  type: "object",
  properties: Object.fromEntries(
    names.map((name, i) => [
      name,
      types[i] === "array" ? { type: "array", items: { type: "string" } } : { type: types[i] },
    ]),
  ),
  required: names,
  additionalProperties: false,
})

const peer = "@mlc-ai/web-xgrammar"
const peerVersion = "0.1.27"

/** Programs for a fresh process; each prints its parts in milliseconds. */
const programs: Record<string, string> = {
  "tokenrail-masks": `
    const { compilerOf, json } = await import("tokenrail-masks/json")
    const { Matcher, TokenFsm, parseVocabulary } = await import("tokenrail-masks/mask")
    part("import")
    const text = JSON.parse(readFileSync(process.argv[2], "utf8"))
    part("read the file")
    const ends = text.added_tokens.filter(({ content }) => content === "<|eot_id|>").map(({ id }) => id)
    const vocabulary = parseVocabulary(text, null, { endIds: ends })
    part("vocabulary")
    const { grammar } = compilerOf(json)({ kind: "json", schema: ${JSON.stringify(schema)} })
    part("compile")
    const fsm = new TokenFsm(grammar, vocabulary)
    const matcher = new Matcher(fsm)
    part("trie")
    matcher.fillMask(new Uint32Array(vocabulary.words))
    part("first mask")`,
  "tokenrail-masks, vocabulary stored": `
    const { compilerOf, json } = await import("tokenrail-masks/json")
    const { Matcher, TokenFsm, deserializeVocabulary } = await import("tokenrail-masks/mask")
    part("import")
    const bytes = readFileSync(process.argv[3])
    part("read the file")
    const vocabulary = deserializeVocabulary(bytes)
    part("vocabulary")
    const { grammar } = compilerOf(json)({ kind: "json", schema: ${JSON.stringify(schema)} })
    part("compile")
    const matcher = new Matcher(new TokenFsm(grammar, vocabulary))
    part("trie")
    matcher.fillMask(new Uint32Array(vocabulary.words))
    part("first mask")`,
  [peer]: `
    Object.assign(globalThis, { require: createRequire(import.meta.url), __filename: fileURLToPath(import.meta.url) })
    const loaded = await import("${peer}")
    const { GrammarCompiler, GrammarMatcher, TokenizerInfo } = loaded.TokenizerInfo ? loaded : globalThis.xgrammar
    await GrammarCompiler.createGrammarCompiler(await TokenizerInfo.createTokenizerInfo(["a", "</s>"], "raw", false, 2, [1]))
    part("import")
    const text = JSON.parse(readFileSync(process.argv[2], "utf8"))
    part("read the file")
    const tokens = []
    for (const [piece, id] of Object.entries(text.model.vocab)) tokens[id] = piece
    for (const { id, content } of text.added_tokens) tokens[id] = content
    const ends = text.added_tokens.filter(({ content }) => content === "<|eot_id|>").map(({ id }) => id)
    const info = await TokenizerInfo.createTokenizerInfo(tokens, "byte_level", false, tokens.length, ends)
    part("vocabulary")
    const compiler = await GrammarCompiler.createGrammarCompiler(info)
    part("trie")
    const compiled = await compiler.compileJSONSchema(${JSON.stringify(schema)})
    part("compile")
    const matcher = await GrammarMatcher.createGrammarMatcher(compiled)
    await matcher.getNextTokenBitmask()
    part("first mask")`,
}

const frame = (program: string) => `
  import { readFileSync } from "node:fs"
  import { createRequire } from "node:module"
  import { fileURLToPath } from "node:url"
  const parts = {}
  const milliseconds = () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  }
  let before = milliseconds()
  const part = (name) => {
    const now = milliseconds()
    parts[name] = now - before
    before = now
  }
  ${program}
  console.log(JSON.stringify(parts))`

const folder = mkdtempSync(join(tmpdir(), "masks-bench-"))
/** The vocabulary of the tokenizer, as `serializeVocabulary` writes it with the trie. */
const stored = join(folder, "vocabulary.bin")
if (flags.tokenizer !== undefined) {
  const text = JSON.parse(readFileSync(flags.tokenizer, "utf8"))
  const ends = text.added_tokens.filter(({ content }: { content: string }) => content === "<|eot_id|>")
  const endIds = ends.map(({ id }: { id: number }) => id)
  writeFileSync(stored, serializeVocabulary(parseVocabulary(text, null, { endIds }), { trie: true }))
}
try {
  await build({
    configFile: "vite.masks.config.ts",
    build: { outDir: join(folder, "node_modules/tokenrail-masks"), emptyOutDir: false },
  })
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }))
  const peerFolder = join(folder, "peer")
  mkdirSync(peerFolder)
  writeFileSync(join(peerFolder, "package.json"), JSON.stringify({ private: true, type: "module" }))
  const install = ["install", "--ignore-scripts", "--prefer-offline", "--no-audit", `${peer}@${peerVersion}`]
  const hasPeer = spawnSync("npm", install, { cwd: peerFolder }).status === 0
  await printSizes(hasPeer ? peerFolder : null)
  if (flags.tokenizer !== undefined) {
    console.log("")
    printTimes("tokenrail-masks", folder)
    printTimes("tokenrail-masks, vocabulary stored", folder)
    if (hasPeer) printTimes(peer, peerFolder)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function printSizes(peerFolder: string | null): Promise<void> {
  const masks = `export { Matcher, TokenFsm, Vocabulary } from "tokenrail-masks/mask"`
  const entry = (name: string) => `export { compilerOf, ${name} } from "tokenrail-masks/${name}"\n${masks}`
  const all = ["json", "regex", "formats", "metaschemas"]
  const rows: [name: string, code: string, cwd: string][] = [
    ["`/mask`", masks, folder],
    ...["json", "regex", "texts", "gbnf", "lark", "tags"].map((name): [string, string, string] => [
      `\`/${name}\` and \`/mask\``,
      entry(name),
      folder,
    ]),
    [
      "all of JSON Schema and `/mask`",
      all
        .map(entry)
        .join("\n")
        .replaceAll(/compilerOf, /g, ""),
      folder,
    ],
    ["`/sampler`", `export * from "tokenrail-masks/sampler"`, folder],
    ["everything", `export * from "tokenrail-masks"`, folder],
    ...(peerFolder === null
      ? []
      : ([[`\`${peer}\` ${peerVersion}`, `export * from "${peer}"`, peerFolder]] as [
          string,
          string,
          string,
        ][])),
  ]
  console.log("| A page imports | minified, kB | after gzip, kB |\n|---|--:|--:|")
  for (const [name, contents, resolveDir] of rows) {
    const { outputFiles } = await esbuild({
      ...{ stdin: { contents: dedupe(contents), resolveDir }, bundle: true, minify: true, write: false },
      ...{
        format: "esm",
        legalComments: "none",
        logLevel: "error",
        external: ["node:*", "fs", "path", "crypto", "url", "module"],
      },
    })
    const [{ contents: code }] = outputFiles
    const kB = (bytes: number) => (bytes / 1000).toFixed(1)
    console.log(`| ${name} | ${kB(code.length)} | ${kB(gzipSync(code, { level: 9 }).length)} |`)
  }
}

/** Removes repeated lines. */
function dedupe(code: string): string {
  return [...new Set(code.split("\n"))].join("\n")
}

function printTimes(name: string, cwd: string): void {
  writeFileSync(join(cwd, "cold.js"), frame(programs[name]))
  const runs = Array.from({ length: Number(flags.rounds) }, (): Record<string, number> => {
    const args = ["cold.js", resolve(flags.tokenizer ?? ""), stored]
    return JSON.parse(execFileSync(process.execPath, args, { cwd, encoding: "utf8" }))
  })
  console.log(`\n| ${name}: part | processor, ms |\n|---|--:|`)
  const median = (values: number[]) =>
    quantile(
      values.sort((a, b) => a - b),
      0.5,
    ).toFixed(1)
  for (const part of Object.keys(runs[0]))
    console.log(`| ${part} | ${median(runs.map((run) => run[part]))} |`)
  const sum = (run: Record<string, number>) => Object.values(run).reduce((a, b) => a + b, 0)
  console.log(`| all | ${median(runs.map(sum))} |`)
}
