/**
 * `tokenrail check`: reports whether a constraint accepts texts, and if not, where a text leaves
 * the constraint and what was expected there.
 *
 * Without a vocabulary, texts are read byte by byte. With a tokenizer's directory, they are split
 * into the model's tokens, and each token is checked against the mask. By default, a text may use
 * every spelling that JSON allows (surface "conform"), but properties must come in the order in
 * which `generate` writes them. If only the order is wrong, the report says so. A compiled
 * constraint has the spelling that it was compiled with.
 */
import type { Command } from "commander"
import {
  bindGrammar,
  compile,
  GrammarError,
  type GrammarInput,
  Matcher,
  type TokenMachine,
  type Vocabulary,
} from "../../runtime/index.ts"
import type { Tokenizer } from "../../runtime/model/tokenizer.ts"
import { byteMachine, place, readsTokens, TextChecker, type Trace, type Verdict } from "../suite/checker.ts"
import { compiledFlag, readCompiled } from "./compiled.ts"
import {
  type ConstraintFlags,
  compileOptions,
  constraintFlags,
  needConstraint,
  readText,
} from "./constraint.ts"
import { describeRefusal, Exit, type Io, UsageError } from "./exit.ts"
import { inWords } from "./follows.ts"
import { examples, groups } from "./helptext.ts"
import { readTokenizer } from "./vocabulary.ts"

interface CheckFlags extends ConstraintFlags {
  compiled?: string
  prefix?: boolean
  jsonl?: boolean
  vocab?: string
  json?: boolean
  trace?: boolean
}

export function checkCommand(program: Command, io: Io, done: (code: number) => void): void {
  const command = program
    .command("check")
    .description("say whether a constraint accepts texts, and where a rejected text fails")
  compiledFlag(constraintFlags(command))
    .argument(
      "<files...>",
      "files with one text each, - for standard input; one final newline is not part of a text",
    )
    .optionsGroup(groups.texts)
    .option("--prefix", "also accept a prefix of an accepted text")
    .option("--jsonl", "every line of a file is a text")
    .option("--vocab <dir>", "read the texts token by token with the tokenizer in this directory")
    .optionsGroup(groups.output)
    .option("--json", "print one JSON object for each text")
    .option(
      "--trace",
      "print the state after each byte, or token with --vocab: its threads, lexemes and frames",
    )
    .addHelpText(
      "after",
      examples("check answer.json --schema person.json", "check - --regex '[0-9]+' --prefix < text.txt"),
    )
    .action(async (files: string[], flags: CheckFlags) => done(await check(files, flags, io)))
}

async function check(files: string[], flags: CheckFlags, io: Io): Promise<number> {
  const tokenizer = flags.vocab ? await readTokenizer(flags.vocab) : null
  const vocabulary = tokenizer?.vocabulary ?? null
  const input = flags.compiled === undefined ? await needConstraint(flags, io) : null
  const machine =
    input === null
      ? (await readCompiled(flags.compiled as string, flags, vocabulary)).machine
      : machineOf(input, flags, vocabulary)
  const checker =
    tokenizer === null ? new TextChecker(machine) : new TokenChecker(machine, tokenizer, flags.maxMask)
  const mayDiffer = input?.kind === "json" && flags.order === undefined
  /** The same constraint with properties in any order. Compiled when the first text is rejected. */
  let anyOrder: TextChecker | null = null
  const isOrderAlone = (text: string): boolean => {
    if (!mayDiffer || input === null) return false
    anyOrder ??= new TextChecker(machineOf(input, { ...flags, order: "any" }, null))
    const { accepted, prefix } = anyOrder.check(text)
    return flags.prefix ? prefix : accepted
  }
  let rejected = false
  let refused = false
  for (const file of files) {
    const source = (await readText(file, io)).replace(/\r?\n$/, "")
    const texts = flags.jsonl ? source.split(/\r?\n/) : [source]
    for (const [index, text] of texts.entries()) {
      const name = flags.jsonl ? `${file}:${index + 1}` : file
      const states: { read: string | null; state: string }[] = []
      const trace: Trace = (read, { fsm, state }) =>
        states.push({ read: read && printedBytes(read), state: fsm.print(state) })
      const verdict = within(() => checker.check(text, flags.trace ? trace : undefined))
      if (!flags.json)
        for (const { read, state } of states) io.out(`${read === null ? "" : `${read} leads to `}${state}\n`)
      if (verdict instanceof GrammarError) {
        refused = true
        const { kind, path, message } = verdict
        const line = { name, ok: false, error: { kind, path, message } }
        io.out(`${flags.json ? JSON.stringify(line) : `${name}: came to a ${describeRefusal(verdict)}`}\n`)
        continue
      }
      const ok = flags.prefix ? verdict.prefix : verdict.accepted
      rejected ||= !ok
      const note = !ok && within(() => isOrderAlone(text)) === true ? { note: otherOrder } : {}
      const line = flags.json
        ? JSON.stringify({ name, ok, ...verdict, ...note, ...(flags.trace && { states }) })
        : [`${name}: ${describe(verdict, ok)}`, ...Object.values(note)].join(". ")
      io.out(`${line}\n`)
    }
  }
  if (refused) return Exit.Refused
  return rejected ? Exit.Rejected : Exit.Ok
}

/**
 * Returns bytes as a text in quotes, or in hexadecimal if they are not whole characters.
 */
export function printedBytes(read: Uint8Array): string {
  try {
    return JSON.stringify(new TextDecoder("utf-8", { fatal: true }).decode(read))
  } catch {
    return Buffer.from(read).toString("hex")
  }
}

/** Returns the result of `read`, or the error that refused the text. */
function within<T>(read: () => T): T | GrammarError {
  try {
    return read()
  } catch (error) {
    if (error instanceof GrammarError) return error
    throw error
  }
}

const otherOrder = "Only the order of the properties differs: --order any accepts it"

/** Compiles the constraint over `vocabulary`, or over bytes if that is null. */
function machineOf(input: GrammarInput, flags: CheckFlags, vocabulary: Vocabulary | null): TokenMachine {
  const defaults = { surface: "conform", order: "schema", unsatisfiable: "error" } as const
  const tokens = vocabulary ?? undefined
  const { grammar } = compile(input, { ...defaults, ...compileOptions(flags), tokens })
  if (vocabulary === null) return byteMachine(grammar)
  return bindGrammar(grammar, vocabulary)
}

/**
 * Reads texts token by token: each token must be in the mask at its position. If the constraint
 * names tokens, a text that spells a control token is read as that token, else as ordinary text.
 */
class TokenChecker {
  private readonly matcher: Matcher
  private readonly parseSpecial: boolean
  /** The spelling of each control token, by id. */
  private readonly spellings: ReadonlyMap<number, Uint8Array>
  private readonly tokenizer: Tokenizer
  private readonly row: Uint32Array

  constructor(machine: TokenMachine, tokenizer: Tokenizer, maskMs: number) {
    this.tokenizer = tokenizer
    this.matcher = new Matcher(machine, { maskMs })
    this.row = new Uint32Array(tokenizer.vocabulary.words)
    this.parseSpecial = readsTokens(machine)
    const encoder = new TextEncoder()
    const named = this.parseSpecial ? [...tokenizer.vocabulary.specials] : []
    this.spellings = new Map(named.map(([name, id]) => [id, encoder.encode(name)]))
  }

  /** Throws `UsageError` if the tokens of a text do not spell exactly that text. */
  check(text: string, trace?: Trace): Verdict {
    const { matcher, row, tokenizer, parseSpecial, spellings } = this
    const { vocabulary } = tokenizer
    const bytes = new TextEncoder().encode(text)
    const tokens = tokenizer.encode(text, { addSpecialTokens: false, parseSpecial })
    const spelled = (token: number) => spellings.get(token) ?? vocabulary.bytes(token)
    checkSpelling(text, bytes, tokens, spelled)
    matcher.reset()
    trace?.(null, matcher)
    let allowed = 0
    let offset = 0
    for (const token of tokens) {
      matcher.fillMask(row)
      if (((row[token >>> 5] >>> (token & 31)) & 1) === 0 || !matcher.accept(token)) break
      allowed++
      offset += spelled(token).length
      trace?.(spelled(token), matcher)
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

/**
 * Throws `UsageError` if the tokens do not spell the text, as with a tokenizer that normalises its
 * input: another text would be checked.
 */
function checkSpelling(
  text: string,
  bytes: Uint8Array,
  tokens: readonly number[],
  spelled: (token: number) => Uint8Array,
): void {
  let at = 0
  const isSame = tokens.every((token) => spelled(token).every((byte) => byte === bytes[at++]))
  if (isSame && at === bytes.length) return
  throw new UsageError(
    `the tokenizer does not write ${JSON.stringify(text.slice(0, 60))} byte for byte. Check it without --vocab`,
  )
}

function describe(verdict: Verdict, ok: boolean): string {
  const { prefix, offset, line, column, expected, tokens, allowed = 0 } = verdict
  if (ok) return tokens === undefined ? "ok" : `ok, ${tokens} tokens`
  const what = prefix ? "ends too early" : "rejected"
  const which = tokens === undefined || prefix ? "" : ` at token ${allowed + 1} of ${tokens},`
  const where = `${what}${which} at byte ${offset}, line ${line}, column ${column}`
  return expected.length === 0
    ? `${where}: nothing may follow`
    : `${where}: expected ${expected.map(inWords).join(" or ")}`
}
