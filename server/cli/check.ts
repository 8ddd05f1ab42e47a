/**
 * `tokenrail check`: does the constraint accept these texts, and if not, where does a text leave it and what was
 * expected there.
 *
 * No model is needed: over the 256 single bytes as vocabulary a token is a byte. With a tokenizer's directory texts are
 * read as that model would write them, token by token against the masks. Unlike generation, checking takes every
 * spelling that JSON has (surface "conform") unless flags say otherwise.
 */
import type { Command } from "commander"
import { compile, type Grammar, Matcher, TokenFsm, Vocabulary } from "../../runtime/index.ts"
import type { Tokenizer } from "../../runtime/tokenizer.ts"
import { type ConstraintFlags, constraintFlags, needConstraint, readText, spelling } from "./constraint.ts"
import { Exit, type Io, UsageError } from "./exit.ts"
import { readTokenizer } from "./vocabulary.ts"

interface CheckFlags extends ConstraintFlags {
  prefix?: boolean
  jsonl?: boolean
  vocab?: string
  json?: boolean
}

export interface Verdict {
  accepted: boolean
  /** Whether the whole text is the beginning of an accepted one. */
  prefix: boolean
  /**
   * Byte at which the text leaves the constraint; its length when it only ends too early. Token by token: the first byte
   * of the token that is not allowed.
   */
  offset: number
  line: number
  /** Characters from the start of the line, from 1. */
  column: number
  expected: { what: string; example: string; path: string }[]
  /** Token by token: how many tokens the text has, and how many of them are allowed. */
  tokens?: number
  allowed?: number
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
    .option("--vocab <dir>", "read the texts token by token with the tokenizer in this directory")
    .option("--json", "print one JSON object a text")
    .action(async (files: string[], flags: CheckFlags) => done(await check(files, flags, io)))
}

async function check(files: string[], flags: CheckFlags, io: Io): Promise<number> {
  const policies = { surface: "conform", unsatisfiable: "error", ...spelling(flags) } as const
  const { grammar } = compile(await needConstraint(flags, io), policies)
  const checker = flags.vocab
    ? new TokenChecker(grammar, await readTokenizer(flags.vocab))
    : new TextChecker(grammar)
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

/** Reads texts token by token under one grammar: each token must be in the mask at its place. */
export class TokenChecker {
  private readonly matcher: Matcher
  private readonly tokenizer: Tokenizer
  private readonly row: Uint32Array

  constructor(grammar: Grammar, tokenizer: Tokenizer) {
    this.tokenizer = tokenizer
    this.matcher = new Matcher(new TokenFsm(grammar, tokenizer.vocabulary))
    this.row = new Uint32Array(tokenizer.vocabulary.words)
  }

  /** Throws `UsageError` for a text that the tokenizer does not spell as it is. */
  check(text: string): Verdict {
    const { matcher, row, tokenizer } = this
    const { vocabulary } = tokenizer
    const bytes = new TextEncoder().encode(text)
    const tokens = tokenizer.encode(text, { addSpecialTokens: false, parseSpecial: false })
    checkSpelling(text, bytes, tokens, vocabulary)
    matcher.reset()
    let allowed = 0
    let offset = 0
    for (const token of tokens) {
      matcher.fillMask(row)
      if (((row[token >>> 5] >>> (token & 31)) & 1) === 0 || !matcher.accept(token)) break
      allowed++
      offset += vocabulary.bytes(token).length
    }
    const prefix = allowed === tokens.length
    const accepted = prefix && matcher.isAccepting()
    const expected = accepted ? [] : matcher.explain()
    return {
      ...{ accepted, prefix, offset, ...place(bytes, offset), expected },
      ...{ tokens: tokens.length, allowed },
    }
  }
}

/** A tokenizer that normalises what it reads would be checked on another text. */
function checkSpelling(
  text: string,
  bytes: Uint8Array,
  tokens: readonly number[],
  vocabulary: Vocabulary,
): void {
  let at = 0
  const isSame = tokens.every((token) => vocabulary.bytes(token).every((byte) => byte === bytes[at++]))
  if (isSame && at === bytes.length) return
  throw new UsageError(
    `the tokenizer does not write ${JSON.stringify(text.slice(0, 60))} byte for byte. Check it without --vocab`,
  )
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

function describe(verdict: Verdict, ok: boolean): string {
  const { prefix, offset, line, column, expected, tokens, allowed = 0 } = verdict
  if (ok) return tokens === undefined ? "ok" : `ok, ${tokens} tokens`
  const what = prefix ? "ends too early" : "rejected"
  const which = tokens === undefined || prefix ? "" : ` at token ${allowed + 1} of ${tokens},`
  const where = `${what}${which} at byte ${offset}, line ${line}, column ${column}`
  return expected.length === 0
    ? `${where}: nothing may follow`
    : `${where}: expected ${expected.map(words).join(" or ")}`
}

function words({ what, example, path }: Verdict["expected"][number]): string {
  const shown = example === "" || what.includes(example) ? what : `${what} like ${JSON.stringify(example)}`
  return path === "" ? shown : `${shown} (${path})`
}
