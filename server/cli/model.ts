/**
 * The flags that choose and open a model; they are the same in every command that runs one.
 */
import { type Command, InvalidArgumentError, Option } from "commander"
import { type Engine, type OpenOptions, open } from "../../runtime/index.ts"
import { dtypes } from "../../runtime/model/directory.ts"
import { type Io, UsageError } from "./exit.ts"
import { groups } from "./helptext.ts"
import { working } from "./progress.ts"
import { progressBar } from "./pull.ts"

export interface ModelFlags {
  model?: string
  offline?: boolean
  dtype?: string
  device?: "auto" | "gpu" | "cpu"
  modelRuntime?: "node" | "web"
  threads?: number
  context?: number
  slots?: number
  batching?: "exact" | "fast"
  draft?: string
  draftTokens?: number
  toolStyle?: string
  reasoning?: string
}

/** Adds the model flags to a command. */
export function modelFlags(command: Command): Command {
  return command
    .optionsGroup(groups.model)
    .option(
      "--model <name>",
      "a GGUF file, a directory of ONNX or safetensors, ollama:<name>, lmstudio:<name>, or <org>/<name>[@revision][:label] on the hub (default: the embedded model)",
    )
    .option("--offline", "use only models of the hub that are on this machine")
    .addOption(
      new Option(
        "--dtype <name>",
        "type of the weights: model_q4.onnx is q4 (default: fp32); how float weights are converted: q8 (default), q4, fp32",
      ).choices(dtypes),
    )
    .addOption(new Option("--device <name>", "device that runs the model").choices(["auto", "gpu", "cpu"]))
    .addOption(
      new Option(
        "--model-runtime <name>",
        "what runs the model: node, onnxruntime-node (default), or web, onnxruntime-web on the sampler's GPU",
      ).choices(["node", "web"]),
    )
    .option("--threads <n>", "threads of the model", wholeNumber)
    .option("--context <n>", "tokens of prompt and answer together", wholeNumber)
    .option("--slots <n>", "requests at once", wholeNumber)
    .addOption(
      new Option(
        "--batching <how>",
        "how to run quantised graphs whose rows affect each other: exact, one row at a time (default), or fast, all together",
      ).choices(["exact", "fast"]),
    )
    .option(
      "--draft <ngram|dir>",
      "check drafts of several tokens at once: ngram takes them from the text, a directory holds a smaller model of the same vocabulary",
    )
    .option("--draft-tokens <n>", "tokens of a draft, 1 to 16 (default: 4)", wholeNumber)
    .option("--tool-style <name>", "form of the model's tool calls (default: its template's)")
    .option("--reasoning <how>", "how it marks its reasoning: auto (default), none, or <begin>,<end>")
}

/**
 * Opens the model that the flags name. `options` holds the settings that these flags do not cover.
 * Log lines go to standard error unless `options` has a `log`.
 */
export async function openModel(flags: ModelFlags, io: Io, options: OpenOptions = {}): Promise<Engine> {
  const { modelRuntime: runtime } = flags
  const { model, offline, dtype, device, threads, context, slots, batching, toolStyle, reasoning } = flags
  const speculation = draftOf(flags)
  const bar = progressBar(io)
  const load = working(io, "loading the model")
  const opening = open({
    signal: io.signal,
    // The bar of a download or a conversion replaces the line.
    onDownload: (done) => {
      load.end()
      bar.show(done)
    },
    onConvert: (done) => {
      load.end()
      bar.show(done)
    },
    log: (line) => load.aside(`${line}\n`),
    ...options,
    ...(model !== undefined && { model }),
    ...(offline !== undefined && { offline }),
    ...(dtype !== undefined && { dtype }),
    ...(device !== undefined && { device }),
    ...(runtime !== undefined && { runtime }),
    ...(threads !== undefined && { threads }),
    ...(context !== undefined && { context }),
    ...(slots !== undefined && { slots }),
    ...(batching !== undefined && { batching }),
    ...(speculation && { speculation }),
    ...(toolStyle !== undefined && { toolStyle }),
    ...(reasoning !== undefined && { reasoning }),
  })
  return opening.finally(() => {
    load.end()
    bar.end()
  })
}

function draftOf({ draft, draftTokens }: ModelFlags): OpenOptions["speculation"] {
  if (draft === undefined) {
    if (draftTokens === undefined) return null
    throw new UsageError("--draft-tokens needs --draft: ngram, or the directory of a draft model")
  }
  if (draftTokens !== undefined && (draftTokens < 1 || draftTokens > 16)) {
    throw new UsageError(`--draft-tokens ${draftTokens} is not from 1 to 16`)
  }
  const tokens = draftTokens === undefined ? {} : { tokens: draftTokens }
  return draft === "ngram" ? { method: "ngram", ...tokens } : { method: "model", model: draft, ...tokens }
}

/** Parses a flag's value as an integer of at least 0. */
export function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError("must be a whole number.")
  return Number(text)
}

/** Parses a flag's value as a number. */
export function decimalNumber(text: string): number {
  if (text.trim() === "" || !Number.isFinite(Number(text)))
    throw new InvalidArgumentError("must be a number.")
  return Number(text)
}
