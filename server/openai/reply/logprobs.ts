/**
 * Log-probabilities as OpenAI's rows: text and bytes of each token, and its alternatives.
 *
 * The text of a token may be half a character. Its bytes are exact, so the joined bytes of all rows
 * are the answer.
 */
import type { TokenLogprobs, Vocabulary } from "../../../runtime/index.ts"

export interface LogprobRow {
  token: string
  logprob: number
  bytes: number[]
  top_logprobs: Omit<LogprobRow, "top_logprobs" | "named_logprobs">[]
  /** The tokens of the request's `logprob_token_ids`, in their order; absent without them. */
  named_logprobs?: Omit<LogprobRow, "top_logprobs" | "named_logprobs">[]
}

/** JSON has no infinity; OpenAI writes this instead. */
const Impossible = -9999

export function logprobRows(
  rows: readonly TokenLogprobs[] | null | undefined,
  vocabulary: Vocabulary,
): LogprobRow[] {
  return (rows ?? []).map((row) => ({
    ...entry(row.token, row.logprob, vocabulary),
    top_logprobs: withChosen(row.top, row).map((other) => entry(other.token, other.logprob, vocabulary)),
    ...(row.named.length > 0 && {
      named_logprobs: row.named.map((other) => entry(other.token, other.logprob, vocabulary)),
    }),
  }))
}

// If alternatives are listed, they always include the chosen token. It comes last if it is not one
// of the likeliest.
function withChosen<Entry extends { token: number }>(top: readonly Entry[], chosen: Entry): readonly Entry[] {
  return top.length === 0 || top.some(({ token }) => token === chosen.token) ? top : [...top, chosen]
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

/** Returns one token with its text, its bytes and its log-probability. */
export function entry(
  id: number,
  logprob: number,
  vocabulary: Vocabulary,
): LogprobRow["top_logprobs"][number] {
  const bytes = vocabulary.bytes(id)
  const name = vocabulary.isSpecial(id)
    ? [...vocabulary.specials].find(([, special]) => special === id)?.[0]
    : undefined
  return {
    token: name ?? decoder.decode(bytes),
    logprob: Number.isFinite(logprob) ? logprob : Impossible,
    bytes: [...bytes],
  }
}
