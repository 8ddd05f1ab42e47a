/**
 * The flags that choose tokens and end answers; they are the same in every command that writes
 * answers.
 */
import { type Command, InvalidArgumentError, Option } from "commander"
import type { GenerateOptions } from "../../runtime/index.ts"
import { groups } from "./helptext.ts"
import { decimalNumber, wholeNumber } from "./model.ts"

export interface SamplingFlags {
  temperature?: number
  topP?: number
  topK?: number
  minP?: number
  seed?: bigint
  maxTokens?: number
  stop?: string[]
  stopRegex?: string[]
  stopWhen?: GenerateOptions["stopWhen"]
  onLength?: GenerateOptions["onLength"]
}

/** Adds the sampling flags to a command. */
export function samplingFlags(command: Command): Command {
  return command
    .optionsGroup(groups.sampling)
    .option("--temperature <x>", "0 is greedy", decimalNumber)
    .option("--top-p <x>", "keep the most likely tokens whose probabilities reach this sum", decimalNumber)
    .option("--top-k <n>", "keep this many tokens", wholeNumber)
    .option("--min-p <x>", "drop tokens with less than this share of the best probability", decimalNumber)
    .option("--seed <n>", "64-bit integer; the same seed gives the same text", integer64)
    .option("--max-tokens <n>", "end after this many tokens", wholeNumber)
    .option("--stop <text...>", "end before this text")
    .option("--stop-regex <pattern...>", "end before the first match")
    .addOption(
      new Option("--stop-when <what>", "end with the first complete value of this kind").choices([
        "json",
        "xml",
        "tool_call",
      ]),
    )
    .addOption(
      new Option(
        "--on-length <what>",
        "cut a constrained answer at --max-tokens, or complete it by then",
      ).choices(["truncate", "close"]),
    )
}

/** Returns the engine's options for the flags that are given. */
export function samplingOptions(flags: SamplingFlags): GenerateOptions {
  const { temperature, topP, topK, minP, seed, maxTokens, stop, stopRegex, stopWhen, onLength } = flags
  const sampled = { temperature, topP, topK, minP, seed }
  const given = { ...sampled, maxTokens, stop, stopRegex, stopWhen, onLength }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

/** Parses a value as an integer of 64 bits. */
export function integer64(text: string): bigint {
  if (!/^-?\d{1,20}$/.test(text) || BigInt.asIntN(64, BigInt(text)) !== BigInt(text)) {
    throw new InvalidArgumentError("must be an integer of 64 bits.")
  }
  return BigInt(text)
}
