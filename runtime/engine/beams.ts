/**
 * Beam search over the engine: the answers are the likeliest texts found, not draws.
 *
 * `sampler/search/beam.ts` chooses. Each step asks for the logits behind every beam, by a probe: a
 * sequence of its own whose prompt is the prompt with the beam's tokens, most of which its slot
 * holds already, and whose walk has gone past them. When the search is over its hypotheses are
 * written by ordinary sequences that take their tokens instead of drawing them: so stops, calls and
 * events are those of any answer.
 */
import type { Vocabulary } from "../../mask/vocabulary.ts"
import { describeDrawn } from "../../sampler/cpu.ts"
import { BeamSearch, type Hypothesis, TokenCounts } from "../../sampler/index.ts"
import { hasBit } from "../../sampler/row.ts"
import type { BeamRow } from "../../sampler/search/beam.ts"
import type { BeamSettings } from "./beamoptions.ts"
import type { ReadRequest } from "./request.ts"
import type { TakeToken } from "./sequence.ts"

/** The logits behind some tokens of an answer, and the mask there; null if nothing may follow. */
export type Probe = (
  written: readonly number[],
) => Promise<{ logits: Float32Array; mask: Uint32Array } | null>

/** The request for probes and answers, without anything that would add tokens by itself. */
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
 * The best texts, best first: as many as the request asks for, or as there are. Rejects as `probe`
 * does.
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
        // The text is complete: only its end is left, which costs nothing.
        return { logits: new Float32Array(0), row: { ...row, mask: onlyEnd(endIds[0]) } }
      }),
    )
    search.step(rows)
  }
  search.stop()
  return distinct(search.results(search.finished.length), vocabulary).slice(0, count)
}

/** Removes hypotheses that spell the text of a better one in other tokens. */
function distinct(found: readonly Hypothesis[], vocabulary: Vocabulary): Hypothesis[] {
  const spell = (token: number) =>
    vocabulary.name(token) ?? Buffer.from(vocabulary.bytes(token)).toString("latin1")
  const texts = found.map(({ tokens }) => tokens.map(spell).join(""))
  return found.filter((_, index) => texts.indexOf(texts[index]) === index)
}

function onlyEnd(end: number): Uint32Array {
  const mask = new Uint32Array((end >>> 5) + 1)
  mask[end >>> 5] = 1 << (end & 31)
  return mask
}

/** Writes a hypothesis: its tokens, then the end that it ended with. */
export function writes({ tokens, end }: Hypothesis): TakeToken {
  return (logits, row) => {
    const token = tokens[row.tokens.outputCount] ?? end
    if (!hasBit(row.mask, token))
      throw new Error(`internal: the search chose token ${token}, which the mask denies`)
    const { logprobs } = row.params
    return { token, status: "ok", ...(logprobs !== null && { logprobs: describeDrawn(logits, row, token) }) }
  }
}
