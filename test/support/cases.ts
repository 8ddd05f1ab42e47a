/**
 * Behaviour of grammars as text files, and their runner: one suite for every notation.
 *
 * A file begins with a paragraph on what it is about. A case begins with `=== name`, then its grammar as it stands, then
 * sections. `--- accept` has texts of the language, `--- prefix` beginnings that are no whole text, `--- reject` texts that
 * are not even a beginning, one a line. `--- error 3:7 syntax message` is a refusal at that line and column (or at a path
 * without a colon) whose message holds those words; `--- also 5:1 message` is another mistake in the same refusal.
 * `--- start name` is where the grammar begins, `--- special <a> <b>` names control tokens, `--- vocabulary` has ordinary
 * tokens with the ids 0, 1, …, and `--- tokens` says that texts are read by ids, so that bytes alone say nothing.
 *
 * In texts `⏎ ⇥ ␍ ␠` are LF, tab, CR and space, `∅` is the empty text, `⟨E3 81⟩` bytes, `⟨#7⟩` the token 7, `⟨<a>⟩` a control
 * token, `⟨90×(⟩` ninety times `(`; at `⟨|⟩` a token ends. Each text is read as bytes, as the longest tokens, and as random ones.
 */
import { readdirSync, readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { concatenate } from "../../grammar/bytes.ts"
import { Completions } from "../../grammar/completions.ts"
import type { TokenNames } from "../../grammar/ebnf/tokennames.ts"
import { GrammarError } from "../../grammar/errors.ts"
import type { Grammar } from "../../grammar/grammar.ts"
import { tokenBytes } from "../../grammar/lexeme/token.ts"
import { DeadState, States } from "../../grammar/state.ts"
import { bindGrammar, isAllowed, Matcher, type TokenMachine, Vocabulary } from "../../mask/index.ts"
import { randomOf } from "./oracle.ts"

/** What a text consists of: bytes, tokens by id, control tokens by name. */
type Piece = Uint8Array | number | string

type Verdict = "accept" | "prefix" | "reject"

export interface GrammarCase {
  name: string
  grammar: string
  start?: string
  texts: { line: string; verdict: Verdict; pieces: Piece[] }[]
  error?: { place: string; kind: string; message: string; also: { place: string; message: string }[] }
  specials: string[]
  /** Ordinary tokens by id, before all others. */
  words: Uint8Array[]
  /** Texts are read by ids. */
  byTokens: boolean
}

/** The grammar of a case; without `tokens` control tokens read as they are spelled. */
export type CaseCompiler = (input: GrammarCase, tokens?: TokenNames) => Grammar

const utf8 = new TextEncoder()
const marks: Record<string, string> = { "⏎": "\n", "⇥": "\t", "␍": "\r", "␠": " " }

/** One test for each case of the files in a folder of test/cases. */
export function testCases(folder: string, compile: CaseCompiler): void {
  for (const file of readdirSync(`test/cases/${folder}`).sort()) {
    for (const each of parseCases(readFileSync(`test/cases/${folder}/${file}`, "utf8"))) {
      test(`${file}: ${each.name}`, () => runCase(each, compile))
    }
  }
}

/** The cases of one file. */
export function parseCases(text: string): GrammarCase[] {
  const [, ...sections] = text.split(/^=== /m)
  return sections.map((section) => {
    const [head, ...parts] = section.split(/^--- /m)
    const end = head.indexOf("\n")
    const made: GrammarCase = {
      name: head.slice(0, end),
      grammar: head.slice(end + 1),
      texts: [],
      specials: [],
      words: [],
      byTokens: false,
    }
    for (const part of parts) addSection(made, part)
    if (made.texts.length === 0 && made.error === undefined) throw new Error(`${made.name} says nothing`)
    return made
  })
}

function addSection(made: GrammarCase, part: string): void {
  const [head, ...rest] = part.trimEnd().split("\n")
  const [kind, ...words] = head.split(" ")
  const lines = rest.filter((line) => line !== "")
  switch (kind) {
    case "accept":
    case "prefix":
    case "reject":
      for (const line of lines) made.texts.push({ line, verdict: kind, pieces: piecesOf(line) })
      return
    case "error": {
      const said = /^(?:(.+?) )?(syntax|unsupported|unsatisfiable|limit)(?: (.*))?$/.exec(words.join(" "))
      if (said === null) throw new Error(`${made.name}: an error has a place, a kind and a message`)
      made.error = { place: said[1] ?? "", kind: said[2], message: said[3] ?? "", also: [] }
      return
    }
    case "also":
      if (made.error === undefined) throw new Error(`${made.name}: also without error`)
      made.error.also.push({ place: words[0], message: words.slice(1).join(" ") })
      return
    case "start":
      made.start = words[0]
      return
    case "special":
      made.specials.push(...words)
      return
    case "vocabulary":
      made.words.push(
        ...lines.map((line) => concatenate(piecesOf(line).filter((each) => each instanceof Uint8Array))),
      )
      return
    case "tokens":
      made.byTokens = true
      return
    default:
      throw new Error(`${made.name}: unknown section ${kind}`)
  }
}

function piecesOf(line: string): Piece[] {
  if (line === "∅") return []
  const pieces: Piece[] = []
  // Whether a token ends here.
  let isCut = false
  const add = (bytes: Uint8Array) => {
    const last = pieces.at(-1)
    if (last instanceof Uint8Array && !isCut) pieces[pieces.length - 1] = concatenate([last, bytes])
    else pieces.push(bytes)
    isCut = false
  }
  for (const [, mark, text] of line.matchAll(/⟨([^⟩]*)⟩|([^⟨]+)/gu)) {
    const times = /^(\d+)×(.*)$/u.exec(mark ?? "")
    if (text !== undefined) add(utf8.encode(plain(text)))
    else if (times !== null) add(utf8.encode(plain(times[2]).repeat(Number(times[1]))))
    else if (/^[0-9A-F]{2}( [0-9A-F]{2})*$/.test(mark)) {
      add(Uint8Array.from(mark.split(" "), (byte) => Number.parseInt(byte, 16)))
    } else if (mark === "|") isCut = true
    else pieces.push(mark.startsWith("#") ? Number(mark.slice(1)) : mark)
  }
  return pieces
}

function plain(text: string): string {
  return text.replace(/[⏎⇥␍␠]/gu, (mark) => marks[mark])
}

/** Compiles a case and reads its texts in every way; throws at the first that is not as the case says. */
export function runCase(each: GrammarCase, compile: CaseCompiler): void {
  if (each.error !== undefined) {
    expectError(each, compile)
    return
  }
  if (!each.byTokens) {
    const states = new States(compile(each))
    for (const { line, verdict, pieces } of each.texts) {
      const bytes = concatenate(pieces.map((piece) => bytesOf(piece)))
      expect([line, verdictOf(states, bytes)]).toEqual([line, verdict])
    }
  }
  const random = randomOf(each.name.length)
  const vocabulary = vocabularyOf(each, random)
  const tokens = tokenNamesOf(vocabulary)
  const fsm = bindGrammar(compile(each, tokens), vocabulary)
  for (const { line, verdict, pieces } of each.texts) {
    const ways = [
      longest(vocabulary, pieces, tokens),
      ...[0, 1, 2].map(() => split(vocabulary, pieces, tokens, random)),
    ]
    for (const ids of ways) expect([line, ids, readTokens(fsm, ids)]).toEqual([line, ids, verdict])
  }
}

function expectError(each: GrammarCase, compile: CaseCompiler): void {
  const { place, kind, message, also } = each.error!
  const error = refusalOf(() => compile(each))
  expect([error.kind, error.path]).toEqual([kind, pathOf(place)])
  const said = (at: string, words: string) => (at === "" ? words : `${pathOf(at)}: ${words}`)
  expect(error.message).toContain(said(place, message))
  for (const other of also) expect(error.message).toContain(said(other.place, other.message))
}

/** The GrammarError that `action` throws; anything else it throws goes on, and nothing is an error of the test. */
export function refusalOf(action: () => unknown): GrammarError {
  try {
    action()
  } catch (error) {
    if (error instanceof GrammarError) return error
    throw error
  }
  throw new Error("nothing was refused")
}

function pathOf(place: string): string {
  return place.replace(/^(\d+):(\d+)/, "line $1, column $2")
}

function bytesOf(piece: Piece): Uint8Array {
  if (typeof piece === "number") return tokenBytes(piece)
  return typeof piece === "string" ? utf8.encode(piece) : piece
}

function verdictOf(states: States, bytes: Uint8Array): Verdict {
  const state = states.advance(states.start, bytes)
  if (state === DeadState) return "reject"
  if (!states.isAccepting(state)) {
    const end = new Completions(states).shortest(state)
    expect(states.isAccepting(states.advance(state, end)), "its shortest completion completes it").toBe(true)
  }
  return states.isAccepting(state) ? "accept" : "prefix"
}

/** Its own words, control tokens, all bytes, random pieces of its texts, and an end id. */
function vocabularyOf(each: GrammarCase, random: () => number): Vocabulary {
  const tokens: (Uint8Array | null)[] = [...each.words]
  const specials = each.specials.map((name) => [name, tokens.push(null) - 1] as const)
  for (let byte = 0; byte < 256; byte++) tokens.push(Uint8Array.of(byte))
  for (const { pieces } of each.texts) {
    for (const piece of pieces) {
      if (!(piece instanceof Uint8Array)) continue
      for (let i = 0; i < 3; i++) {
        const at = Math.floor(random() * piece.length)
        tokens.push(piece.slice(at, at + 2 + Math.floor(random() * 6)))
      }
    }
  }
  const endId = tokens.push(null) - 1
  return Vocabulary.fromBytes(tokens, { endIds: [endId], specials: new Map(specials) })
}

function tokenNamesOf(vocabulary: Vocabulary): TokenNames {
  const { specials, endIds, width, hash } = vocabulary
  return { specials, endIds, width, hash, bytes: (id) => vocabulary.bytes(id) }
}

function ordinary(vocabulary: Vocabulary): number[] {
  return Array.from({ length: vocabulary.width }, (_, id) => id).filter(
    (id) => vocabulary.bytes(id).length > 0,
  )
}

function longest(vocabulary: Vocabulary, pieces: readonly Piece[], tokens: TokenNames): number[] {
  const ids = ordinary(vocabulary).sort((a, b) => vocabulary.bytes(b).length - vocabulary.bytes(a).length)
  return tokensOf(vocabulary, pieces, tokens, () => ids)
}

function split(
  vocabulary: Vocabulary,
  pieces: readonly Piece[],
  tokens: TokenNames,
  random: () => number,
): number[] {
  const ids = ordinary(vocabulary)
  return tokensOf(vocabulary, pieces, tokens, () => {
    const from = Math.floor(random() * ids.length)
    return [...ids.slice(from), ...ids.slice(0, from)]
  })
}

/** `order()` lists the ordinary tokens; the first that fits is taken, place by place. */
function tokensOf(
  vocabulary: Vocabulary,
  pieces: readonly Piece[],
  tokens: TokenNames,
  order: () => readonly number[],
): number[] {
  return pieces.flatMap((piece) => {
    if (typeof piece === "number") return [piece]
    if (typeof piece === "string") return [tokens.specials.get(piece)!]
    const ids: number[] = []
    for (let at = 0; at < piece.length; ) {
      const fits = (id: number) => vocabulary.bytes(id).every((byte, i) => piece[at + i] === byte)
      const id = order().find(fits)!
      ids.push(id)
      at += vocabulary.bytes(id).length
    }
    return ids
  })
}

/** Steps at which every bit of the mask is held against `accept`. */
const CheckedMasks = 8

function readTokens(fsm: TokenMachine, ids: readonly number[]): Verdict {
  const matcher = new Matcher(fsm)
  const row = new Uint32Array(fsm.vocabulary.words)
  for (const [step, id] of ids.entries()) {
    matcher.fillMask(row)
    if (step < CheckedMasks) {
      for (let other = 0; other < fsm.vocabulary.width; other++) {
        const isTaken = matcher.fork().accept(other)
        if (isTaken !== isAllowed(row, other))
          expect([ids.slice(0, step), other, isTaken]).toBe("as the mask says")
      }
    }
    const isBitSet = isAllowed(row, id)
    if (matcher.accept(id) !== isBitSet) expect([ids.slice(0, step), id, !isBitSet]).toBe("as the mask says")
    if (!isBitSet) return "reject"
  }
  return matcher.isAccepting() ? "accept" : "prefix"
}
