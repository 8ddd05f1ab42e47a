/**
 * Log-probabilities in the form of `/v1/completions`: four parallel lists with one entry for each
 * token.
 *
 * A token that is not whole UTF-8 is spelled `bytes:\xf0\x9f`, so that different tokens have
 * different names. `text_offset` is the offset of the token in the choice's text in UTF-16 units; a
 * token inside a character has the offset of the character.
 */
import { Detokenizer, type TokenLogprobs, type Vocabulary } from "../../../runtime/index.ts"

/** One entry of the four lists. A prompt's first token has no log-probability. */
export interface LegacyRow {
  token: string
  logprob: number | null
  top: Record<string, number> | null
  offset: number
}

/** Makes one of the lists; a long reply writes it piece by piece. */
type ListMaker = (rows: readonly LegacyRow[], make: (rows: readonly LegacyRow[]) => unknown[]) => unknown

/** Returns the four lists for some rows. */
export function legacyLogprobs(
  rows: readonly LegacyRow[],
  list: ListMaker = (some, make) => make(some),
): Record<"tokens" | "token_logprobs" | "top_logprobs" | "text_offset", unknown> {
  return {
    tokens: list(rows, (some) => some.map(({ token }) => token)),
    token_logprobs: list(rows, (some) => some.map(({ logprob }) => logprob)),
    top_logprobs: list(rows, (some) => some.map(({ top }) => top)),
    text_offset: list(rows, (some) => some.map(({ offset }) => offset)),
  }
}

/** Converts the tokens of one text to rows, in their order. */
export class RowWriter {
  private readonly vocabulary: Vocabulary
  private readonly detokenizer: Detokenizer
  private offset: number

  /** The first token begins at offset `start` of the text. */
  constructor(vocabulary: Vocabulary, start = 0) {
    this.vocabulary = vocabulary
    this.detokenizer = new Detokenizer(vocabulary, { continues: true })
    this.offset = start
  }

  write(rows: readonly TokenLogprobs[]): LegacyRow[] {
    return rows.map((row) => {
      const { offset } = this
      this.offset += this.detokenizer.push(row.token).length
      return { ...judgedRow(row, this.vocabulary), offset }
    })
  }
}

/**
 * Returns the rows of a prompt's tokens; the prompt is `text`. A control token that the tokenizer
 * has added has no length. If the tokenizer changes the text (case, accents), offsets refer to the
 * changed text and are at most the length of `text`.
 */
export function promptRows(
  ids: readonly number[],
  judged: readonly (TokenLogprobs | null)[],
  text: string,
  vocabulary: Vocabulary,
): LegacyRow[] {
  const detokenizer = new Detokenizer(vocabulary)
  let offset = 0
  return ids.map((id, index) => {
    const row = judged[index]
    const start = Math.min(offset, text.length)
    const name = vocabulary.name(id)
    if (name === undefined) offset += detokenizer.push(id).length
    else if (text.startsWith(name, offset)) offset += name.length
    const said = row ? judgedRow(row, vocabulary) : { token: spell(id, vocabulary), logprob: null, top: null }
    return { ...said, offset: start }
  })
}

/** Returns the text of a prompt that came as tokens, with the control tokens in it. */
export function textOf(ids: readonly number[], vocabulary: Vocabulary): string {
  const detokenizer = new Detokenizer(vocabulary, { rendersSpecials: true })
  return ids.map((id) => detokenizer.push(id)).join("")
}

/**
 * Returns the likeliest tokens by name, and the token itself. If two tokens have one name, the
 * likelier is listed.
 */
function judgedRow(row: TokenLogprobs, vocabulary: Vocabulary): Omit<LegacyRow, "offset"> {
  const top: [string, number][] = []
  const names = new Set<string>()
  for (const { token, logprob } of [...row.top, row]) {
    const name = spell(token, vocabulary)
    if (!names.has(name)) top.push([name, logprob])
    names.add(name)
  }
  // Built from entries, because a token may be named `__proto__`.
  return { token: spell(row.token, vocabulary), logprob: row.logprob, top: Object.fromEntries(top) }
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/**
 * Returns a token's spelling: the name of a control token, else its text, or its bytes if they are
 * not text.
 */
export function spell(id: number, vocabulary: Vocabulary): string {
  const name = vocabulary.name(id)
  if (name !== undefined) return name
  const bytes = vocabulary.bytes(id)
  try {
    return decoder.decode(bytes)
  } catch {
    return `bytes:${Array.from(bytes, (byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("")}`
  }
}
