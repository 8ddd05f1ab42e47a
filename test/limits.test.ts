/** docs/limits.md is what the code says: each table is held against the one that the code goes by. */
import { readdirSync, readFileSync } from "node:fs"
import { Command } from "commander"
import { expect, test } from "vitest"
import { defaultLimits, fixedBounds } from "../grammar/errors.ts"
import { refusals } from "../grammar/limits.ts"
import { decisionBounds } from "../runtime/decisions/questions.ts"
import { maxKeptBytes, maxKeptCount } from "../runtime/engine/compiled.ts"
import { defaultWorkLimits, maxHeapMb } from "../runtime/guides/protocol.ts"
import { maxOwnedThreads } from "../runtime/guides/threads.ts"
import { open } from "../runtime/index.ts"
import { defaultPromptMs, shortLength } from "../runtime/prompt/encoder.ts"
import { maxPattern } from "../runtime/stops/repetition.ts"
import { maxPatterns, maxPatternUnits } from "../runtime/stops/stopregex.ts"
import { maxStops, maxStopUnits } from "../runtime/stops/stops.ts"
import { listBounds } from "../sampler/params.ts"
import {
  expirySeconds,
  maxCustomIdUnits,
  maxFileBytes,
  maxLineBytes,
  maxLineErrors,
  maxLines,
  maxOpenBatches,
  windowSeconds,
} from "../server/batches/store.ts"
import { serveCommand } from "../server/cli/serve.ts"
import { maxMessageUnits, maxPlaceUnits } from "../server/errors.ts"
import { defaultBodyLimits } from "../server/http/body.ts"
import { maxPieces, minPieceBytes } from "../server/http/pieces.ts"
import { maxQuotedUnits } from "../server/http/quote.ts"
import { maxCheckMs, maxChecks } from "../server/openai/compile/checkthread.ts"
import { maxInlineBytes, maxSparseBytes, maxSparseMarks } from "../server/openai/read/bodyreader.ts"
import { defaultReaderLimits } from "../server/openai/read/readerthread.ts"
import { requestBounds } from "../server/openai/request/bounds.ts"
import { maxHeaderUnits, maxNamed } from "../server/openai/request/keys.ts"
import { maxResponseBytes, maxResponses } from "../server/openai/responses/store.ts"
import { ioOf } from "./support/io.ts"

const page = readFileSync("docs/limits.md", "utf8")

/** Rows of the tables below a heading, without heads and marks of code. */
function rows(heading: string): string[][] {
  const [, section] = page.split(`\n## ${heading}\n`)
  return section
    .split("\n## ")[0]
    .split("\n")
    .filter((line, at, lines) => line.startsWith("|") && !isHead(line, lines[at + 1]))
    .map((line) =>
      line
        .slice(1, -1)
        .replaceAll("`", "")
        .split("|")
        .map((cell) => cell.trim()),
    )
}

function isHead(line: string, next: string | undefined): boolean {
  return line.startsWith("|---") || next?.startsWith("|---") === true
}

function number(value: number): string {
  return Number.isFinite(value) ? value.toLocaleString("en") : "none"
}

/** [first cell, last cell] of an object of bounds, and of the rows of a table. */
const entries = (bounds: object) => Object.entries(bounds).map(([name, most]) => [name, number(most)])
const ends = (table: string[][]) => table.map((row) => [row[0], row.at(-1)])

test("fields of a request", () => {
  expect(page).toContain(
    `takes at most ${number(maxCheckMs)} ms, and at most ${maxChecks} of\nthem run at once`,
  )
  expect(rows("Fields of a request")).toEqual(
    requestBounds.map(({ field, measure, most }) => [field, measure, number(most)]),
  )
})

test("bodies and the thread that reads them", () => {
  expect(ends(rows("Bodies"))).toEqual([...entries(defaultBodyLimits), ...entries(defaultReaderLimits)])
  expect(page).toContain(
    `more than ${number(maxPieces)} pieces of less than ${minPieceBytes} bytes on average`,
  )
  expect(page).toContain(`A body above ${number(maxInlineBytes)} bytes is read in a thread`)
  expect(page).toContain(
    `of up to ${number(maxSparseBytes)} bytes only one that has more than\n${number(maxSparseMarks)} marks and escapes`,
  )
})

test("replies", () => {
  expect(rows("Replies").map((row) => row[2])).toEqual(
    [
      ...[maxQuotedUnits, maxMessageUnits, maxPlaceUnits, maxNamed, maxHeaderUnits],
      ...[maxResponses, maxResponseBytes],
    ].map(number),
  )
})

test("files and batches", () => {
  expect(rows("Files and batches").map((row) => row[2])).toEqual(
    [
      ...[maxFileBytes, maxLines, maxLineBytes, maxCustomIdUnits, maxLineErrors],
      ...[maxOpenBatches, windowSeconds, expirySeconds.most],
    ].map(number),
  )
})

test("the engine", () => {
  const { biasCount, biasUnits, idCount, badWordCount, badWordUnits, badWordTokens, ...breakers } = listBounds
  expect(rows("The engine").map((row) => row[2])).toEqual(
    [
      ...[maxStops, maxStopUnits, maxPatterns, maxPatternUnits, maxPattern],
      ...[biasCount, biasUnits, idCount, badWordCount, badWordUnits, badWordTokens],
      ...[breakers.breakerCount, breakers.breakerUnits, breakers.breakerTokens],
      ...Object.values(decisionBounds),
    ].map(number),
  )
})

test("constraints", () => {
  expect(ends(rows("Constraints"))).toEqual(entries(defaultLimits))
})

test("bounds without an option", () => {
  expect(ends(rows("Bounds without an option"))).toEqual(entries(fixedBounds))
})

test("every bound of a constraint is checked somewhere, and refused in one place", () => {
  const sources = ["grammar", "mask"].flatMap((floor) =>
    readdirSync(floor, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts") && `${floor}/${name}` !== "grammar/limits.ts")
      .map((name) => ({ name: `${floor}/${name}`, source: readFileSync(`${floor}/${name}`, "utf8") })),
  )
  const all = sources.map(({ source }) => source).join("\n")
  const bounds = [...Object.keys(defaultLimits), ...Object.keys(fixedBounds)]
  expect(new Set(bounds).size).toBe(bounds.length)
  expect(bounds.filter((name) => !new RegExp(`["'.{ ]${name}\\b`).test(all))).toEqual([])
  const names = Object.keys(refusals)
  const stated = new Set(names.map((refusal) => refusal.split(".")[0]))
  expect([...stated].filter((name) => !bounds.includes(name))).toEqual(["maxStates"])
  expect(
    names.filter((refusal) => !all.includes(`"${refusal}"`) && !refusal.startsWith("maxStates")),
  ).toEqual([])
  // Time has a class of its own.
  const refusing = sources.filter(({ source }) => /Error\(\s*"limit"/.test(source)).map(({ name }) => name)
  expect(refusing.sort()).toEqual(["grammar/deadline.ts", "grammar/refusal.ts"])
})

test("threads", () => {
  const kept = { maxOwnedThreads, maxHeapMb, maxKeptBytes, maxKeptCount }
  const times = { ...defaultWorkLimits, promptMs: defaultPromptMs }
  expect(ends(rows("Threads"))).toEqual([...entries(times), ...entries(kept)])
  expect(page).toContain(`tokenise one prompt of more than ${number(shortLength)} characters`)
})

test("flags of the server, by their defaults", async () => {
  const program = new Command()
  serveCommand(program, ioOf(), () => {})
  const engine = await open({ device: "cpu" })
  for (const [flag, , , most] of rows("The server")) {
    const option = program.commands[0].options.find(({ long }) => long === flag)
    expect(option, flag).toBeDefined()
    if (flag === "--slots") expect(most).toBe(number(engine.load().slots))
    else if (flag === "--context") expect(most).toBe("the model's")
    else expect(most, flag).toBe(number(option?.defaultValue as number))
  }
  await engine.close()
})
