/**
 * Tokenizers, ours and Python's `tokenizers`: ids of 10,000 texts, what they decode to, the bytes of every token, special tokens.
 *
 * Usage: `node dist/test/models/tokenizers.js DIR… [--texts 10000] [--show]`. A DIR holds `tokenizer.json`, perhaps
 * `tokenizer_config.json`, and perhaps llama.cpp's pairs as `texts.inp` and `texts.out`; the environment variable PYTHON names a
 * Python with tokenizers. Prints a line for each and, with `--show`, differences. Exit 1 when there is one.
 */
import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { parseArgs } from "node:util"
import { parseVocabulary } from "../../mask/tokenizers/tokenizerjson.ts"
import { Detokenizer } from "../../runtime/model/detokenizer.ts"
import { Tokenizer } from "../../runtime/model/tokenizer.ts"
import { piecesById, stepCases, tokenizerOfSteps } from "../support/steps.ts"
import { texts } from "./texts.ts"

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: { texts: { type: "string", default: "10000" }, show: { type: "boolean", default: false } },
})
const python = process.env.PYTHON ?? "python3"

interface Theirs {
  pieces: readonly [id: number, piece: string][]
  added: readonly [id: number, content: string, special: boolean][]
  encodings: readonly [ids: readonly number[], text: string, plain: readonly number[]][]
}

if (positionals.length === 0) console.log("skipped: no folder of a tokenizer is given")
checkSteps()
console.log("| tokenizer | ids of texts | special tokens as text | texts of ids | tokens | pairs |")
console.log("|---|--:|--:|--:|--:|--:|")
let isEqual = true
for (const folder of positionals) {
  if (existsSync(join(folder, "tokenizer.json"))) compare(folder)
  else console.log(`skipped: ${folder} has no tokenizer.json`)
}
process.exit(isEqual ? 0 : 1)

/** Whether what `test/support/steps.ts` expects is what Python gives. */
function checkSteps(): void {
  for (const [name, steps, text, pieces] of stepCases) {
    const folder = mkdtempSync(join(tmpdir(), "steps-"))
    const json = tokenizerOfSteps(steps, pieces)
    writeFileSync(join(folder, "tokenizer.json"), JSON.stringify(json))
    const [[ids]] = encodedByPython(folder, [text]).encodings
    rmSync(folder, { recursive: true })
    const vocab = piecesById(pieces)
    const theirs = JSON.stringify(ids.map((id) => vocab[id]))
    if (theirs !== JSON.stringify(pieces)) console.log(`expected otherwise, ${name}: ${theirs}`)
  }
}

function compare(folder: string): void {
  const read = (name: string) => {
    const path = join(folder, name)
    return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : {}
  }
  const [json, config] = [read("tokenizer.json"), read("tokenizer_config.json")]
  const added = json.added_tokens as { id: number; content: string; special: boolean }[]
  const all = texts(
    Number(flags.texts),
    added.map(({ content }) => content),
  )
  const theirs = encodedByPython(folder, all)
  const name = basename(folder)
  const endId = (added.find(({ special }) => special) ?? added[0])?.id ?? 0
  let tokenizer: Tokenizer
  try {
    const endIds = [endId]
    const vocabulary = parseVocabulary(json, config, { endIds })
    tokenizer = new Tokenizer(
      { path: folder, tokenizerJson: json, tokenizerConfig: config, chatTemplates: new Map() },
      vocabulary,
    )
  } catch (error) {
    console.log(`| ${name} | refused: ${(error as Error).message} |`)
    return
  }
  const encode = (text: string) => tokenizer.encode(text, { addSpecialTokens: false })
  const encodePlain = (text: string) =>
    tokenizer.encode(text, { addSpecialTokens: false, parseSpecial: false })
  const ids = all.map(encode)
  const wrong = all.map((_, at) => at).filter((at) => String(ids[at]) !== String(theirs.encodings[at][0]))
  const spelled = all
    .map((_, at) => at)
    .filter((at) => String(encodePlain(all[at])) !== String(theirs.encodings[at][2]))
    // Python's Unigram spells control tokens by pieces of its own vocabulary.
    .filter((at) => !theirs.encodings[at][2].some((id) => tokenizer.vocabulary.isSpecial(id)))
  const isText = (at: number): boolean => {
    const [ids, text] = theirs.encodings[at]
    const ours = textOf(tokenizer, ids)
    // Python reads the text of an added token, too, as bytes of the alphabet: ours gives the text that was encoded. It drops the
    // first space of a whole text, which ours keeps: an answer goes on with a prompt.
    return ours === text || ours === all[at] || (strips && ours === ` ${text}`)
  }
  // WordPiece's decoder moves punctuation together: the text is another one.
  const strips = JSON.stringify(json.decoder).match(/"Strip"|"Metaspace"/) !== null
  const texted = json.decoder?.type === "WordPiece" ? [] : all.map((_, at) => at).filter((at) => !isText(at))
  const tokens = wrongTokens(tokenizer, json, theirs, endId)
  const pairs = pairsOf(folder)
  const wrongPairs = pairs.filter(([text, expected]) => String(encode(text)) !== String(expected))
  const share = (bad: number, of: number): string => (bad === 0 ? `${of}` : `${of - bad} of ${of}`)
  console.log(
    `| ${name} | ${share(wrong.length, all.length)} | ${share(spelled.length, all.length)} | ${share(texted.length, all.length)} | ${share(tokens.length, theirs.pieces.length)} | ${share(wrongPairs.length, pairs.length)} |`,
  )
  isEqual &&= wrong.length + spelled.length + texted.length + tokens.length + wrongPairs.length === 0
  if (!flags.show) return
  const piecesOf = (list: readonly number[]) =>
    list.map((id) => Buffer.from(tokenizer.vocabulary.bytes(id)).toString() || `<${id}>`)
  for (const at of wrong.slice(0, 12)) {
    const [ours, other] = [ids[at], theirs.encodings[at][0]]
    let first = 0
    while (ours[first] === other[first]) first++
    console.log(
      `  ids of ${JSON.stringify(all[at].slice(0, 80))}: at ${first}\n    ours   ${JSON.stringify(piecesOf(ours.slice(Math.max(0, first - 2), first + 6)))}\n    theirs ${JSON.stringify(piecesOf(other.slice(Math.max(0, first - 2), first + 6)))}`,
    )
  }
  for (const at of spelled.slice(0, 6)) {
    console.log(`  as text ${JSON.stringify(all[at].slice(0, 80))}`)
    console.log(`    ours   ${JSON.stringify(piecesOf(encodePlain(all[at])))}`)
    console.log(`    theirs ${JSON.stringify(piecesOf(theirs.encodings[at][2]))}`)
  }
  for (const at of texted.slice(0, 6)) {
    console.log(
      `  text of ids\n    ours   ${JSON.stringify(textOf(tokenizer, theirs.encodings[at][0]).slice(0, 90))}\n    theirs ${JSON.stringify(theirs.encodings[at][1].slice(0, 90))}`,
    )
  }
  for (const each of tokens.slice(0, 6)) console.log(`  token ${each}`)
  for (const [text, expected] of wrongPairs) {
    console.log(`  pair ${JSON.stringify(text)}\n    ours     ${encode(text)}\n    expected ${expected}`)
  }
}

function textOf(tokenizer: Tokenizer, ids: readonly number[]): string {
  const detokenizer = new Detokenizer(tokenizer.vocabulary, { rendersSpecials: true })
  // A character that is cut off at the end is a replacement there.
  return ids.map((id) => detokenizer.push(id)).join("") + (detokenizer.heldCount > 0 ? "\ufffd" : "")
}

/** The bytes of GPT-2's alphabet: printable ones are themselves, the others follow from U+0100. */
function byteOf(): ReadonlyMap<string, number> {
  const bytes = new Map<string, number>()
  let next = 256
  for (let byte = 0; byte < 256; byte++) {
    const isPrintable = /[!-~¡-¬®-ÿ]/.test(String.fromCharCode(byte))
    bytes.set(String.fromCharCode(isPrintable ? byte : next++), byte)
  }
  return bytes
}

/** Tokens whose bytes, name or kind are others than the pieces say. */
function wrongTokens(
  tokenizer: Tokenizer,
  json: Record<string, unknown>,
  theirs: Theirs,
  endId: number,
): string[] {
  const { vocabulary } = tokenizer
  const decoder = JSON.stringify(json.decoder)
  const isByteLevel = decoder.includes('"ByteLevel"')
  const isWordPiece = decoder.includes('"WordPiece"')
  const byByte = byteOf()
  const isAdded = new Set(theirs.added.map(([id]) => id))
  const bytesOf = (piece: string): Buffer => {
    if (isByteLevel) {
      const bytes = [...piece].map((char) => byByte.get(char))
      return bytes.includes(undefined) ? Buffer.from(piece) : Buffer.from(bytes as number[])
    }
    if (isWordPiece) return Buffer.from(piece.startsWith("##") ? piece.slice(2) : ` ${piece}`)
    const byte = /^<0x([0-9A-F]{2})>$/.exec(piece)
    return byte && decoder.includes("ByteFallback")
      ? Buffer.from(byte[1], "hex")
      : Buffer.from(piece.replaceAll("▁", " "))
  }
  const wrong: string[] = []
  for (const [id, piece] of theirs.pieces) {
    if (isAdded.has(id) || vocabulary.isSpecial(id)) continue
    if (!Buffer.from(vocabulary.bytes(id)).equals(bytesOf(piece)))
      wrong.push(`${id} ${JSON.stringify(piece)}`)
  }
  for (const [id, content, special] of theirs.added) {
    if (special !== vocabulary.isSpecial(id) && id !== endId)
      wrong.push(`${id} ${content}: special ${special}`)
    const written = vocabulary.name(id) ?? Buffer.from(vocabulary.bytes(id)).toString()
    if (written !== content) wrong.push(`${id} ${JSON.stringify(content)}: ${JSON.stringify(written)}`)
  }
  return wrong
}

/** llama.cpp's texts and ids. */
function pairsOf(folder: string): [text: string, ids: number[]][] {
  const path = join(folder, "texts.inp")
  if (!existsSync(path)) return []
  const ids = readFileSync(join(folder, "texts.out"), "utf8").split("\n")
  const parts = readFileSync(path, "utf8").split("\n__ggml_vocab_test__\n")
  return parts.map((text, at) => [text, (ids[at].match(/\d+/g) ?? []).map(Number)])
}

function encodedByPython(folder: string, all: readonly string[]): Theirs {
  const { status, stdout, stderr } = spawnSync(python, ["test/models/tokenized.py"], {
    input: JSON.stringify({ folder, texts: all }),
    encoding: "utf8",
    maxBuffer: 1 << 30,
  })
  if (status !== 0) {
    console.log(`skipped: ${python} has no tokenizers:\n${stderr}`)
    process.exit(0)
  }
  const [first, ...rest] = stdout.trimEnd().split("\n")
  return { ...JSON.parse(first), encodings: rest.map((line) => JSON.parse(line)) }
}
