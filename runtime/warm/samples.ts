/**
 * Sample constraints for warming up, with texts that satisfy them: JSON Schemas with texts in
 * different white space, then constraints of other kinds.
 *
 * `samples.jsonl` holds one sample a line and a blank line between rounds. Hardly a schema stands
 * in two rounds, so that what one round leaves in a cache answers nothing of the next. The samples
 * were drawn at random from lists of words, kinds and bounds.
 */
import { readFileSync } from "node:fs"
import type { GrammarInput } from "../../grammar/index.ts"
import { packageFile } from "../files.ts"

export interface Sample {
  readonly input: GrammarInput
  readonly texts: readonly string[]
}

/** Reads the samples of all rounds, whose lines are parsed once their round is taken. */
export function* sampleRounds(): Generator<readonly Sample[]> {
  const text = readFileSync(packageFile("runtime/warm/samples.jsonl"), "utf8").trimEnd()
  for (const round of text.split("\n\n")) yield round.split("\n").map((line) => JSON.parse(line))
}
