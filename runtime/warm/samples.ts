/**
 * Sample constraints for warming up, with texts that satisfy them: JSON Schemas with texts in
 * different white space, then constraints of other kinds.
 *
 * `samples.jsonl` has one sample per line and a blank line between rounds. Rounds have hardly any
 * schemas in common, so that the caches of one round do not answer for the next. The samples were
 * drawn at random from lists of words, kinds and bounds.
 */
import { readFileSync } from "node:fs"
import type { GrammarInput } from "../../grammar/index.ts"
import { packageFile } from "../files.ts"

export interface Sample {
  readonly input: GrammarInput
  readonly texts: readonly string[]
}

/**
 * Yields the samples of each round. The lines of a round are parsed when the round is requested.
 */
export function* sampleRounds(): Generator<readonly Sample[]> {
  const text = readFileSync(packageFile("runtime/warm/samples.jsonl"), "utf8").trimEnd()
  for (const round of text.split("\n\n")) yield round.split("\n").map((line) => JSON.parse(line))
}
