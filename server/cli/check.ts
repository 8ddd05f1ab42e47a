/**
 * `tokenrail check`: does the constraint accept these texts, and if not, where does a text leave it and what was
 * expected there.
 *
 * No model is needed: over the 256 single bytes as vocabulary a token is a byte. Unlike generation, checking takes every
 * spelling that JSON has (surface "conform") unless flags say otherwise.
 */
import type { Command } from "commander"
import { compile, type Grammar, Matcher, TokenFsm, Vocabulary } from "../../runtime/index.ts"
import { type ConstraintFlags, constraintFlags, needConstraint, readText, spelling } from "./constraint.ts"
import { Exit, type Io } from "./exit.ts"

interface CheckFlags extends ConstraintFlags {
  prefix?: boolean
  jsonl?: boolean
  json?: boolean
}

export interface Verdict {
  accepted: boolean
  /** Whether the whole text is the beginning of an accepted one. */
  prefix: boolean
  /** Byte at which the text leaves the constraint; its length when it only ends too early. */
  offset: number
  line: number
  /** Characters from the start of the line, from 1. */
  column: number
  expected: { what: string; example: string; path: string }[]
}

export function checkCommand(program: Command, io: Io, done: (code: number) => void): void {
  constraintFlags(
    program.command("check").description("say whether a constraint accepts texts, and where not"),
  )
    .argument(
      "<files...>",
      "files with one text each, - for standard input; one final newline is no part of a text",
    )
    .option("--prefix", "accept what is the beginning of an accepted text")
    .option("--jsonl", "every line of a file is a text")
    .option("--json", "print one JSON object a text")
    .action(async (files: string[], flags: CheckFlags) => done(await check(files, flags, io)))
}

async function check(files: string[], flags: CheckFlags, io: Io): Promise<number> {
  const policies = { surface: "conform", unsatisfiable: "error", ...spelling(flags) } as const
  const { grammar } = compile(await needConstraint(flags, io), policies)
  const checker = new TextChecker(grammar)
  let rejected = false
  for (const file of files) {
    const source = (await readText(file, io)).replace(/\r?\n$/, "")
    const texts = flags.jsonl ? source.split(/\r?\n/) : [source]
    for (const [index, text] of texts.entries()) {
      const name = flags.jsonl ? `${file}:${index + 1}` : file
      const verdict = checker.check(text)
      const ok = flags.prefix ? verdict.prefix : verdict.accepted
      rejected ||= !ok
      io.out(
        flags.json ? `${JSON.stringify({ name, ok, ...verdict })}\n` : `${name}: ${describe(verdict, ok)}\n`,
      )
    }
  }
  return rejected ? Exit.Rejected : Exit.Ok
}

/** Reads texts byte by byte under one grammar. */
export class TextChecker {
  private readonly matcher: Matcher

  constructor(grammar: Grammar) {
    this.matcher = new Matcher(new TokenFsm(grammar, byteVocabulary()))
  }

  check(text: string): Verdict {
    const bytes = new TextEncoder().encode(text)
    this.matcher.reset()
    let offset = 0
    while (offset < bytes.length && this.matcher.acceptBytes(bytes.subarray(offset, offset + 1))) offset++
    const prefix = offset === bytes.length
    const accepted = prefix && this.matcher.isAccepting()
    const expected = accepted ? [] : this.matcher.explain()
    return { accepted, prefix, offset, ...place(bytes, offset), expected }
  }
}

/** A token for each byte, and one end. */
export function byteVocabulary(): Vocabulary {
  const bytes = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte))
  return Vocabulary.fromBytes([...bytes, null], { width: 257, endIds: [256] })
}

function place(bytes: Uint8Array, offset: number): { line: number; column: number } {
  const before = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(0, offset))
  const line = before.slice(before.lastIndexOf("\n") + 1)
  return { line: before.split("\n").length, column: [...line].length + 1 }
}

function describe({ prefix, offset, line, column, expected }: Verdict, ok: boolean): string {
  if (ok) return "ok"
  const where = `${prefix ? "ends too early" : "rejected"} at byte ${offset}, line ${line}, column ${column}`
  return expected.length === 0
    ? `${where}: nothing may follow`
    : `${where}: expected ${expected.map(words).join(" or ")}`
}

function words({ what, example, path }: Verdict["expected"][number]): string {
  const shown = example === "" || what.includes(example) ? what : `${what} like ${JSON.stringify(example)}`
  return path === "" ? shown : `${shown} (${path})`
}
