/**
 * The flags that choose and open a model; they are the same in every command that runs one.
 */
import { type Command, InvalidArgumentError, Option } from "commander"
import { type Engine, open } from "../../runtime/index.ts"
import type { Io } from "./exit.ts"

export interface ModelFlags {
  model?: string
  device?: "auto" | "gpu" | "cpu"
  threads?: number
  context?: number
  slots?: number
}

/** Adds the flags to a command. */
export function modelFlags(command: Command): Command {
  return command
    .option("--model <dir>", "ONNX model in the Hugging Face layout (default: the embedded model)")
    .addOption(new Option("--device <name>", "where to run").choices(["auto", "gpu", "cpu"]))
    .option("--threads <n>", "threads of the model", wholeNumber)
    .option("--context <n>", "tokens of prompt and answer together", wholeNumber)
    .option("--slots <n>", "requests at once", wholeNumber)
}

/** Opens the model; its log lines go to standard error. */
export function openModel(flags: ModelFlags & { maxWaiting?: number }, io: Io): Promise<Engine> {
  const { model, device, threads, context, slots, maxWaiting } = flags
  return open({
    ...(model !== undefined && { model }),
    ...(device !== undefined && { device }),
    ...(threads !== undefined && { threads }),
    ...(context !== undefined && { context }),
    ...(slots !== undefined && { slots }),
    ...(maxWaiting !== undefined && { maxWaiting }),
    log: (line) => io.err(`${line}\n`),
  })
}

/** A flag's value as an integer of at least 0. */
export function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError("must be a whole number.")
  return Number(text)
}

/** A flag's value as a number. */
export function decimalNumber(text: string): number {
  if (text.trim() === "" || !Number.isFinite(Number(text)))
    throw new InvalidArgumentError("must be a number.")
  return Number(text)
}
