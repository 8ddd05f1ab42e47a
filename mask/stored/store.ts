/**
 * Compiled constraints as bytes, to carry them to another process.
 *
 * There are two forms. A *machine* is closed and finite: flat tables that can be used at once and
 * need no grammar. A constraint without a finite machine is stored as its *source*: input and
 * options, which the other process compiles, lazily as always; the result must have the same
 * grammar and the same report. Nothing in a file is executed, and every count, index and text is
 * checked before it is used: a file that is damaged, or was made for another engine or vocabulary,
 * causes a `StoreError` that names the part.
 *
 * Layout, little-endian: magic [8 bytes], format version, form, build [block], hash of the grammar
 * [32 bytes], hash of the vocabulary [32 bytes, zero: any], notes in JSON [block], the tables of a
 * machine (`writeTables`), SHA-256 of all of this [32 bytes]. A block is its length as a word, then
 * its bytes.
 */

import { compile } from "../../grammar/compile.ts"
import { type CompileOptions, constraintKey } from "../../grammar/compiler.ts"
import { GrammarError } from "../../grammar/errors.ts"
import type { Expectation } from "../../grammar/frame.ts"
import type { GrammarInput } from "../../grammar/input.ts"
import { checkOptions, isObject } from "../../grammar/options.ts"
import { type KeywordNote, makeReport, type Report } from "../../grammar/report.ts"
import { bindGrammar } from "../budgets/machine.ts"
import type { TokenMachine } from "../machine.ts"
import { sha256 } from "../sha256.ts"
import type { Vocabulary } from "../vocabulary.ts"
import { ByteReader, ByteWriter } from "./binary.ts"
import { ClosedFsm, type ClosedTables } from "./closed.ts"
import { checkTables } from "./closedcheck.ts"
import { StoreError, type StorePart } from "./error.ts"
import { hashOf } from "./precompile.ts"

/** The package's version. A test compares it with package.json, which a browser cannot read. */
export const engineBuild = "0.1.0"

const magic = new TextEncoder().encode("tokenrl\n")
const formatVersion = 1
const forms = ["machine", "source"] as const
const hashLength = 32
const anyVocabulary = "0".repeat(2 * hashLength)

/** A compiled constraint that was read from bytes. */
export interface Stored {
  readonly form: (typeof forms)[number]
  /** A `ClosedFsm`, or the machine of a source that was compiled again. */
  readonly machine: TokenMachine
  readonly report: Report
  /** SHA-256 of the grammar's key; for a source, of its key without a vocabulary. */
  readonly grammarHash: string
  /** Hash of the vocabulary that the file is for; undefined if it is for any. */
  readonly vocabularyHash: string | undefined
}

/**
 * Returns a closed machine as bytes. With `masks` (default true) the bytes are for its vocabulary
 * alone and need no walk there; without them they are smaller, and for any vocabulary.
 */
export function serializeMachine(
  machine: ClosedFsm,
  report: Report,
  options: { masks?: boolean } = {},
): Uint8Array {
  checkOptions(options, { masks: "boolean" })
  const { masks = true } = options
  const { tables, vocabulary, grammarHash } = machine
  const notes: MachineNotes = { report: reportNotes(report), explanations: tables.explanations }
  const writer = begin("machine", grammarHash, masks ? vocabulary.hash : anyVocabulary, notes)
  writeTables(writer, masks ? tables : withoutMasks(tables))
  return finish(writer)
}

/**
 * Returns a constraint as bytes that the other process compiles again, with the control tokens of
 * the vocabulary there. With `vocabulary` the bytes are for that one alone. Throws GrammarError if
 * the constraint does not compile, and RangeError for a value that JSON cannot write.
 */
export function serializeSource(
  input: GrammarInput,
  options: CompileOptions = {},
  vocabulary?: Vocabulary,
): Uint8Array {
  const { tokens, ...kinds } = options
  const { report } = compile(input, { ...kinds, tokens: vocabulary ?? tokens })
  const notes: SourceNotes = { report: reportNotes(report), input, options: kinds }
  // A value that JSON changes or drops (a bigint, undefined) would become another constraint there.
  const kept = JSON.parse(jsonOf(notes)) as SourceNotes
  const key = constraintKey(input, kinds)
  if (constraintKey(kept.input, kept.options) !== key) throw notJson()
  return finish(begin("source", hashOf(key), vocabulary?.hash ?? anyVocabulary, notes))
}

/**
 * Reads what `serializeMachine` or `serializeSource` wrote. Throws StoreError for anything else,
 * and for a file of another build or vocabulary; GrammarError if a source does not compile.
 * `spellsTokens`: a source reads control tokens as text, as they are spelled. Default: they are
 * those of the vocabulary. `compileMs`: milliseconds that a source may take to compile, in place of
 * the stored option.
 */
export function deserialize(
  bytes: Uint8Array,
  vocabulary: Vocabulary,
  options: { spellsTokens?: boolean; compileMs?: number } = {},
): Stored {
  checkOptions(options, { spellsTokens: "boolean", compileMs: "number" })
  const reader = new ByteReader(
    bytes,
    (message) => new StoreError("content", `${message}: the file is truncated`),
  )
  if (bytes.length < magic.length || !magic.every((byte, i) => bytes[i] === byte)) {
    throw new StoreError("magic", "this is not a compiled constraint. tokenrail compile --out writes one")
  }
  reader.bytes(magic.length)
  expectPart("format version", reader.word(), formatVersion)
  const form = forms[reader.word()]
  if (form === undefined) throw new StoreError("content", "the form is neither machine nor source")
  expectPart("engine build", textOf(reader.block()), engineBuild)
  const body = bytes.subarray(0, Math.max(0, bytes.length - hashLength))
  expectPart("checksum", hexOf(bytes.subarray(body.length)), sha256(body))
  const grammarHash = hexOf(reader.bytes(hashLength))
  const ownHash = hexOf(reader.bytes(hashLength))
  if (ownHash !== anyVocabulary) expectPart("vocabulary hash", ownHash, vocabulary.hash)
  const notes = parseNotes(reader.block())
  const machine =
    form === "machine"
      ? readMachine(reader, notes, vocabulary, grammarHash)
      : compileAgain(notes, vocabulary, grammarHash, options)
  if (reader.left !== hashLength)
    throw new StoreError("content", `${reader.left - hashLength} bytes too many`)
  const vocabularyHash = ownHash === anyVocabulary ? undefined : ownHash
  return { form, machine, report: readReport(notes.report), grammarHash, vocabularyHash }
}

interface MachineNotes {
  report: ReportNotes
  explanations: readonly (readonly Expectation[])[]
}

interface SourceNotes {
  report: ReportNotes
  input: GrammarInput
  options: CompileOptions
}

interface ReportNotes {
  reason?: { path: string; message: string }
  keywords: readonly KeywordNote[]
}

function begin(
  form: (typeof forms)[number],
  grammarHash: string,
  vocabularyHash: string,
  notes: MachineNotes | SourceNotes,
): ByteWriter {
  const encoder = new TextEncoder()
  const writer = new ByteWriter()
  writer.bytes(magic)
  writer.word(formatVersion)
  writer.word(forms.indexOf(form))
  writer.block(encoder.encode(engineBuild))
  writer.bytes(bytesOf(grammarHash))
  writer.bytes(bytesOf(vocabularyHash))
  writer.block(encoder.encode(jsonOf(notes)))
  return writer
}

function finish(writer: ByteWriter): Uint8Array {
  const body = writer.finish()
  writer.bytes(bytesOf(sha256(body)))
  return writer.finish()
}

function jsonOf(notes: MachineNotes | SourceNotes): string {
  try {
    return JSON.stringify(notes)
  } catch {
    throw notJson()
  }
}

function notJson(): RangeError {
  return new RangeError("the schema holds a value that JSON cannot write. Give its text instead")
}

function withoutMasks(tables: ClosedTables): ClosedTables {
  const maskOf = new Uint32Array(tables.maskOf.length)
  return { ...tables, maskOf, maskOffsets: new Uint32Array(1), maskValues: new Uint32Array(0) }
}

/**
 * Writes S, E, M, the number of mask words, start; then the tables. `readTables` reads them in this
 * order.
 */
function writeTables(writer: ByteWriter, tables: ClosedTables): void {
  const { targets, accepting, maskOffsets, maskValues } = tables
  writer.words([accepting.length, targets.length, maskOffsets.length - 1, maskValues.length, tables.start])
  writer.words(tables.edgeOffsets)
  writer.bytes(tables.lows)
  writer.bytes(tables.highs)
  writer.words(targets)
  writer.bytes(accepting)
  writer.words(tables.steps)
  writer.words(tables.explanationOf)
  writer.words(tables.maskOf)
  writer.words(maskOffsets)
  writer.words(maskValues)
  writer.word(tables.completions.size)
  for (const [state, bytes] of tables.completions) {
    writer.word(state)
    writer.block(bytes)
  }
}

function readTables(reader: ByteReader, explanations: ClosedTables["explanations"]): ClosedTables {
  const [stateCount, edgeCount, maskCount, maskLength, start] = reader.words(5)
  const tables = {
    start,
    edgeOffsets: reader.words(stateCount + 1),
    lows: reader.bytes(edgeCount),
    highs: reader.bytes(edgeCount),
    targets: reader.words(edgeCount),
    accepting: reader.bytes(stateCount),
    steps: Uint16Array.from(reader.words(stateCount)),
    explanationOf: reader.words(stateCount),
    explanations,
    maskOf: reader.words(stateCount),
    maskOffsets: reader.words(maskCount + 1),
    maskValues: reader.words(maskLength),
  }
  const completions = new Map<number, Uint8Array>()
  for (let left = reader.word(); left > 0; left--) completions.set(reader.word(), reader.block())
  return { ...tables, completions }
}

function readMachine(
  reader: ByteReader,
  notes: Partial<MachineNotes>,
  vocabulary: Vocabulary,
  grammarHash: string,
): ClosedFsm {
  const explanations = notes.explanations
  if (!isListOf(explanations, (each) => isListOf(each, isExpectation))) {
    throw new StoreError("content", "explanations are not lists of what, example and path")
  }
  const tables = readTables(reader, explanations)
  const problem = checkTables(tables, vocabulary)
  if (problem !== null) throw new StoreError("content", problem)
  return new ClosedFsm(tables, vocabulary, grammarHash)
}

function compileAgain(
  notes: Partial<SourceNotes>,
  vocabulary: Vocabulary,
  grammarHash: string,
  { spellsTokens, compileMs }: { spellsTokens?: boolean; compileMs?: number },
): TokenMachine {
  const { input, options } = notes
  if (input === undefined || options === undefined) throw new StoreError("content", "no input or no options")
  const { grammar, report } = compileStored(input, {
    ...options,
    tokens: spellsTokens ? undefined : vocabulary,
    ...(compileMs !== undefined && { limits: { ...options.limits, compileMs } }),
  })
  expectPart("grammar hash", grammarHash, hashOf(constraintKey(input, options)))
  if (JSON.stringify(reportNotes(report)) !== JSON.stringify(notes.report)) {
    throw new StoreError(
      "report",
      "the source compiled here enforces other keywords than the file's report lists",
    )
  }
  return bindGrammar(grammar, vocabulary)
}

function compileStored(input: GrammarInput, options: CompileOptions): ReturnType<typeof compile> {
  try {
    return compile(input, options)
  } catch (error) {
    if (error instanceof GrammarError) throw error
    throw new StoreError("content", `the source is not a constraint: ${(error as Error).message}`)
  }
}

function parseNotes(bytes: Uint8Array): Partial<MachineNotes & SourceNotes> {
  try {
    const notes: unknown = JSON.parse(textOf(bytes))
    if (isObject(notes)) return notes
  } catch {
    // Falls through to the error below: a parser's message does not help, since no person wrote the
    // text.
  }
  throw new StoreError("content", "the notes are not a JSON object")
}

function reportNotes({ reason, keywords }: Report): ReportNotes {
  return { ...(reason && { reason }), keywords }
}

function readReport(notes: ReportNotes | undefined): Report {
  const { reason, keywords } = notes ?? {}
  const isReason = reason === undefined || (isObject(reason) && areTexts(reason, ["path", "message"]))
  if (!isReason || !isListOf(keywords, isKeywordNote))
    throw new StoreError("content", "the report is malformed")
  return makeReport(() => [...keywords], reason)
}

function isKeywordNote(value: unknown): value is KeywordNote {
  if (!isObject(value) || !areTexts(value, ["path", "keyword", "status"])) return false
  return ["exact", "annotation", "relaxed"].includes(value.status as string)
}

function isExpectation(value: unknown): value is Expectation {
  return isObject(value) && areTexts(value, ["what", "example", "path"])
}

function areTexts(value: Record<string, unknown>, names: readonly string[]): boolean {
  return names.every((name) => typeof value[name] === "string")
}

function isListOf<T>(value: unknown, is: (each: unknown) => each is T): value is T[] {
  return Array.isArray(value) && value.every(is)
}

function expectPart(part: StorePart, found: string | number, expected: string | number): void {
  if (found === expected) return
  const way =
    part === "checksum"
      ? "the file is damaged"
      : "compile the constraint again, with this engine and vocabulary"
  throw new StoreError(part, `${found} in the file, ${expected} here: ${way}`)
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")
}

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from({ length: hex.length / 2 }, (_, i) =>
    Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16),
  )
}
