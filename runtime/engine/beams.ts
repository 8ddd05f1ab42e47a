/**
 * Beam search over the engine: the answers are the likeliest texts found, not draws.
 *
 * `sampler/search/beam.ts` chooses the texts. In each step it asks for the logits that follow every
 * beam. A probe computes them: it is a sequence of its own whose prompt is the prompt with the
 * beam's tokens (its slot already holds most of them) and whose walk has accepted these tokens.
 * When the search is over, ordinary sequences write its hypotheses: they take the hypothesis's
 * tokens instead of drawing, so stops, calls and events are those of any answer.
 */

import type { Vocabulary } from "../../mask/vocabulary.ts"
import { describeDrawn } from "../../sampler/cpu.ts"
import { BeamSearch, type Hypothesis, TokenCounts } from "../../sampler/index.ts"
import { hasBit } from "../../sampler/row.ts"
import type { BeamRow } from "../../sampler/search/beam.ts"
import { latin1 } from "../latin1.ts"
import type { BeamSettings } from "./beamoptions.ts"
import type { ReadRequest } from "./request.ts"
import type { TakeToken } from "./sequence.ts"

/**
 * Returns the logits that follow the given tokens of an answer, the mask there, and how many tokens
 * before them another request had computed; null if no token may follow.
 */
export type Probe = (
  written: readonly number[],
) => Promise<{ logits: Float32Array; mask: Uint32Array; reusedCount: number } | null>

/**
 * Returns the request for probes and answers, without the options that would add tokens by
 * themselves.
 */
export function searchedRequest(request: ReadRequest): ReadRequest {
  const { walk } = request
  return {
    ...request,
    closes: false,
    takesRuns: false,
    draftTokens: 0,
    walk: walk && { ...walk, forces: false, takesForced: false, closes: false },
  }
}

/**
 * Returns the best texts, best first: as many as the request asks for, or all if the search finds
 * fewer. Rejects as `probe` does.
 */
export async function searchBeams(
  request: ReadRequest,
  { width, lengthPenalty, earlyStopping }: BeamSettings,
  { vocabulary, probe }: { vocabulary: Vocabulary; probe: Probe },
): Promise<readonly Hypothesis[]> {
  const { params, promptIds, maxTokens, ignoresEnd, walk, stopTokenIds, count } = request
  const { endIds } = vocabulary
  const ends = ignoresEnd && walk === null ? [] : endIds
  const own = { endIds: [...ends, ...stopTokenIds], lengthPenalty, earlyStopping, beamWidth: width }
  const search = new BeamSearch(own)
  for (let length = 0; length < maxTokens && !search.isDone(); length++) {
    const rows = await Promise.all(
      search.beams.map(async ({ tokens }): Promise<BeamRow> => {
        const seen = await probe(tokens)
        const counts = new TokenCounts(promptIds)
        for (const token of tokens) counts.push(token)
        const position = promptIds.length + tokens.length
        const row = { logitsRow: 0, params, tokens: counts, position, choice: 0 }
        if (seen) return { logits: seen.logits, row: { ...row, mask: seen.mask } }
        // The text is complete, so only an end of sequence can follow, at no cost.
        return { logits: new Float32Array(0), row: { ...row, mask: onlyEnd(endIds[0]) } }
      }),
    )
    search.step(rows)
  }
  search.stop()
  return distinct(search.results(search.finished.length), vocabulary).slice(0, count)
}

/** Removes hypotheses that spell the text of a better one with other tokens. */
function distinct(found: readonly Hypothesis[], vocabulary: Vocabulary): Hypothesis[] {
  const spell = (token: number) => vocabulary.name(token) ?? latin1(vocabulary.bytes(token))
  const texts = found.map(({ tokens }) => tokens.map(spell).join(""))
  return found.filter((_, index) => texts.indexOf(texts[index]) === index)
}

function onlyEnd(end: number): Uint32Array {
  const mask = new Uint32Array((end >>> 5) + 1)
  mask[end >>> 5] = 1 << (end & 31)
  return mask
}

/**
 * Returns a function that writes a hypothesis: its tokens, then the end of sequence that it ended
 * with.
 */
export function writes({ tokens, end }: Hypothesis): TakeToken {
  return (logits, row) => {
    const token = tokens[row.tokens.outputCount] ?? end
    if (!hasBit(row.mask, token))
      throw new Error(`internal: the search chose token ${token}, which the mask denies`)
    const { logprobs } = row.params
    return { token, status: "ok", ...(logprobs !== null && { logprobs: describeDrawn(logits, row, token) }) }
  }
}
