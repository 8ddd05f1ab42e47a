/**
 * Opens an engine from a model directory: reads the files, starts the model's thread, chooses a
 * sampler, and checks that they fit together. One log line says what was chosen and why.
 */

import { availableParallelism } from "node:os"
import { checkOptions, type Fields } from "../grammar/options.ts"
import type { Vocabulary } from "../mask/vocabulary.ts"
import { createCpuSampler, type Sampler } from "../sampler/index.ts"
import { readSeed } from "../sampler/params.ts"
import { Engine, type EngineParts } from "./engine/engine.ts"
import { ModelError } from "./errors.ts"
import { packageFile } from "./files.ts"
import { atLeast, chooseContext, chooseStyle, readLimits, readVocabulary } from "./fitting.ts"
import { defaultWorkLimits, type WorkLimits } from "./guides/protocol.ts"
import { ThreadedGuides } from "./guides/threaded.ts"
import { BuiltModels } from "./model/build/cache.ts"
import type { Provider } from "./model/build/providers.ts"
import type { ModelDirectory } from "./model/directory.ts"
import { readModelDirectory } from "./model/folder.ts"
import { type LocatedModel, locateModel } from "./model/hub/locate.ts"
import { readPlaces } from "./model/hub/places.ts"
import type { ModelProgress } from "./model/hub/pull.ts"
import type { Model } from "./model/model.ts"
import { type LoadOptions, openOrtModel } from "./model/ort/client.ts"
import { muteTelemetry, requireOrt } from "./model/ort/installed.ts"
import { Tokenizer } from "./model/tokenizer.ts"
import { requireWeb } from "./model/web/installed.ts"
import { defaultPromptMs, PromptEncoder } from "./prompt/encoder.ts"
import { promptThreads } from "./prompt/thread.ts"
import { beginTrial, readWithin, type Trial } from "./prompt/trial.ts"
import { checkSameVocabulary, ModelDrafter } from "./speculation/draftmodel.ts"
import type { Drafter, SpeculationOptions } from "./speculation/speculation.ts"
import {
  cannotRewind,
  describeSpeculator,
  openSpeculator,
  type Speculator,
} from "./speculation/speculator.ts"
import { SlowReading } from "./turn/slowreading.ts"

/**
 * Options that say which model to open, where it runs, and what its requests may cost. Every field
 * is optional.
 */
export interface OpenOptions {
  /**
   * A directory in the Hugging Face layout with an ONNX graph or safetensors; a GGUF file, or any
   * part of a split one; `ollama:<name>` and `lmstudio:<publisher>/<repo>[:label]`: models of these
   * programs on this machine; `<org>/<name>[@revision][:label]`: a model of the hub, or one of its
   * GGUF files, downloaded to the cache that its tools share (`HF_HOME`, `HF_HUB_CACHE`,
   * `HF_TOKEN`, `HF_ENDPOINT`). GGUF and safetensors are converted once, see docs/gguf.md. Default:
   * the embedded model.
   */
  model?: string
  /**
   * Whether only models of the hub that are on this machine are used. Default: `HF_HUB_OFFLINE`.
   */
  offline?: boolean
  /** Called while a model of the hub is downloaded. */
  onDownload?: (progress: ModelProgress) => void
  /** Called while GGUF or safetensors are converted. */
  onConvert?: (progress: ModelProgress) => void
  /** Cancels the download and the conversion of a model. */
  signal?: AbortSignal
  /**
   * The type of the weights. A directory with ONNX graphs may have one graph per type: fp32
   * (default), fp16, int8, uint8, q8, q4, q4f16, bnb4. Float weights of safetensors and GGUF are
   * written as q8 (default), q4 or fp32. Quantized weights of a GGUF file are kept as they are.
   */
  dtype?: string
  /**
   * Where model and sampler run. `auto` (default): on a hardware GPU if there is one, else on the
   * CPU; `gpu`: on a GPU, which may be a software one, and an error if there is none; `cpu`.
   */
  device?: "auto" | "gpu" | "cpu"
  /**
   * What runs the model. `node` (default): onnxruntime-node. `web`: onnxruntime-web on the GPU of
   * the sampler, so that logits and caches never leave it; needs the package onnxruntime-web and a
   * graph with GroupQueryAttention, see docs/gpu.md.
   */
  runtime?: "node" | "web"
  /**
   * How to run a graph whose rows change each other's bits, as quantized activations do. `exact`
   * (default) runs the rows one at a time, so that an answer does not depend on other requests.
   * `fast` runs them together: answers have the same distribution, but may differ. All other graphs
   * always run their rows together. `fast` also runs several guessed tokens of a constrained answer
   * at once, even if that changes bits: a single answer with a schema then takes a third less time
   * (SmolLM2-135M by optimum's exporter, fp32 and 4 bits).
   */
  batching?: "exact" | "fast"
  /** Maximum number of sequences that run at once. Default 8. */
  slots?: number
  /**
   * Number of threads of the model. Default: one less than there are cores. For a graph of at most
   * 256 MiB fewer threads are used if a trial finds them faster; trials run at the start and
   * whenever the duration of steps changes.
   */
  threads?: number
  /**
   * Maximum tokens of prompt and output together. Default and upper limit: the number of positions
   * of the model.
   */
  context?: number
  /**
   * Maximum number of sequences that wait for a slot. Default: no limit; `createApp` and `tokenrail
   * serve` have their own limits.
   */
  maxWaiting?: number
  /**
   * Where constraints are compiled, masks filled and long prompts tokenized. `thread` (default): in
   * separate threads, so that they cannot block the event loop or another request, and work above
   * its time limit is stopped; `none`: in the caller's thread, without a time limit.
   */
  isolation?: "thread" | "none"
  /**
   * Maximum milliseconds of one compilation (2,000), one mask (1,000), one completion (1,000), and
   * one long prompt (5,000).
   */
  limits?: Partial<WorkLimits & { promptMs: number }>
  /**
   * Number of additional threads for constraints that are kept ready, for many clients. Default 0:
   * a second thread is started when it is needed, which takes about 0.2 s.
   */
  spareThreads?: number
  /**
   * Whether to run sample constraints in the pauses after the start, which makes the first requests
   * faster. Default false.
   */
  warmsUp?: boolean
  /** The seed of requests that have none. Default: a random one for each. */
  seed?: bigint | number | string
  /**
   * How drafts are made: several tokens of a sequence then take one run of the model if their draft
   * is right. Default: punctuation and names of a constrained answer are guessed from the habits of
   * its text, if few answers run and the graph reads several tokens with the same bits as one by
   * one; null: there are no drafts.
   */
  speculation?: SpeculationOptions | null
  /**
   * The form of the model's tool calls, see docs/tool-styles.md. Default: the form in its chat
   * template.
   */
  toolStyle?: string
  /**
   * How the model marks its reasoning: `auto` (default): as its chat template does; `none`; or two
   * tags, `<begin>,<end>`.
   */
  reasoning?: string
  log?: (line: string) => void
}

const openFields = {
  ...{
    model: "text",
    offline: "boolean",
    onDownload: "function",
    onConvert: "function",
    signal: "object",
    dtype: "text",
  },
  device: { words: ["auto", "gpu", "cpu"] },
  runtime: { words: ["node", "web"] },
  batching: { words: ["exact", "fast"] },
  ...{ slots: "number", threads: "number", context: "number", maxWaiting: "number" },
  isolation: { words: ["thread", "none"] },
  limits: { fields: { compileMs: "number", maskMs: "number", completionMs: "number", promptMs: "number" } },
  ...{ spareThreads: "number", warmsUp: "boolean", seed: "any", speculation: "object", toolStyle: "text" },
  ...{ reasoning: "text", log: "function" },
} as const satisfies Fields<OpenOptions>

const openAliases = {
  ...{
    contextLength: "context",
    contextSize: "context",
    modelPath: "model",
    path: "model",
    numThreads: "threads",
  },
  ...{ maxQueue: "maxWaiting", quantization: "dtype", precision: "dtype", draft: "speculation" },
}

/**
 * Opens an engine. Throws ModelError naming the file, the input or the package, OptionError for an
 * unknown option, and RangeError for an impossible value.
 */
export async function open(options: OpenOptions = {}): Promise<Engine> {
  checkOptions(options, openFields, { aliases: openAliases })
  const settings = readSettings(options)
  const { maxWaiting, seed, log } = settings
  if (options.runtime === "web") checkWeb(options)
  else requireOrt()
  const doubt = muteTelemetry()
  if (doubt !== null) log(doubt)
  const located = await locate(options.model ?? packageFile("runtime/embedded"), options.dtype, options)
  const { speculation } = options
  const chosen = options.runtime === "web" ? null : await chooseSampler(options.device ?? "auto", log)
  let loaded: Loaded | undefined
  let speculator: Speculator | null = null
  try {
    loaded = await loadDirectory(located, chosen, options, settings)
    const { sampler, description } = loaded.chosen
    const { directory, load, model, tokenizer, vocabulary, read } = loaded
    if (speculation) {
      const openDraft = async (draftOptions: SpeculationOptions & { method: "model" }): Promise<Drafter> =>
        openDraftModel(draftOptions, load, { vocabulary, sampler, log, options })
      speculator = await openSpeculator(speculation, model, openDraft)
    }
    const services = startServices(loaded, options, settings)
    log(`model ${directory.id} on ${model.description}, sampler ${description}`)
    if (speculator) log(describeSpeculator(speculator))
    return new Engine({
      model,
      sampler,
      tokenizer,
      ...services,
      id: directory.id,
      createdAt: directory.createdAt,
      family: typeof directory.config.model_type === "string" ? directory.config.model_type : "",
      parameterCount: directory.parameterCount,
      fileType: directory.fileType,
      weightBytes: directory.weightBytes,
      style: read(() => chooseStyle(tokenizer.template.allSources, options)),
      maxWaiting,
      seed,
      speculator,
      guesses: speculation === undefined,
      log,
    })
  } catch (error) {
    await loaded?.model.close()
    await speculator?.drafter.close()
    chosen?.sampler.close()
    throw error
  }
}

/** The options in the form in which they are used, with their defaults. */
interface Settings {
  readonly slotCount: number
  readonly threads: number | undefined
  readonly maxWaiting: number
  readonly promptMs: number
  readonly limits: Partial<WorkLimits>
  readonly seed: ReturnType<typeof readSeed>
  readonly log: (line: string) => void
  /** Whether constraints and prompts run in separate threads. */
  readonly isolates: boolean
  /**
   * Whether reading the model's files has a time limit. The embedded model's files are the
   * package's own, so they need none.
   */
  readonly isBounded: boolean
}

function readSettings(options: OpenOptions): Settings {
  const isolates = (options.isolation ?? "thread") === "thread"
  const slotCount = atLeast("slots", options.slots ?? 8, 1)
  const threads = options.threads === undefined ? undefined : atLeast("threads", options.threads, 1)
  const maxWaiting = atLeast("maxWaiting", options.maxWaiting ?? Number.POSITIVE_INFINITY, 0)
  const { promptMs = defaultPromptMs, ...limits } = readLimits(options.limits)
  const seed = readSeed(options.seed)
  const log = options.log ?? (() => {})
  const isBounded = options.model !== undefined && isolates
  return { slotCount, threads, maxWaiting, promptMs, limits, seed, log, isolates, isBounded }
}

/** A sampler, and where it runs, for the log. */
interface ChosenSampler {
  readonly sampler: Sampler
  readonly description: string
}

/** A running model, with the data of its directory. */
interface Loaded {
  readonly chosen: ChosenSampler
  readonly directory: ModelDirectory
  readonly load: LoadOptions
  readonly model: Model
  readonly vocabulary: Vocabulary
  readonly tokenizer: Tokenizer
  /**
   * The type of weights that selects the graph; undefined if the directory was built, since it then
   * has only one graph.
   */
  readonly dtype: string | undefined
  /** Runs a function that works on the model's files, with a time limit if required. */
  readonly read: <Result>(work: () => Result) => Result
}

/**
 * Starts the model of a directory and reads its tokenizer. Closes what it opened if that fails. If
 * no sampler was chosen, the model brings its own.
 */
async function loadDirectory(
  located: LocatedModel,
  chosen: ChosenSampler | null,
  options: OpenOptions,
  { slotCount, threads, isBounded }: Settings,
): Promise<Loaded> {
  const provider = chosen === null || chosen.sampler.name === "gpu" ? "webgpu" : "cpu"
  const directory = await openDirectory(located, providers[provider], options)
  let model: Model | undefined
  let trial: Trial | null = null
  try {
    const load: LoadOptions = {
      graphPath: directory.graphPath,
      embeddingPath: directory.embeddingPath,
      provider,
      threads,
      slotCount,
      contextLength: chooseContext(directory, options.context),
      batching: options.batching ?? "exact",
      // If the caller requested drafts, they must preserve the bits of plain decoding.
      readsAhead: options.batching === "fast" && options.speculation === undefined,
      config: directory.config,
    }
    const read = <Result>(work: () => Result): Result =>
      isBounded ? readWithin(directory.path, work) : work()
    const dtype = located.source === null ? options.dtype : undefined
    if (isBounded) trial = await beginTrial({ model: directory.path, dtype })
    const started = await startModel(load, chosen, located, options)
    const opened = started.model
    model = opened
    await trial?.done
    const vocabulary = read(() => readVocabulary(directory, opened))
    const tokenizer = read(() => new Tokenizer(directory, vocabulary))
    return { chosen: started, directory, load, model, vocabulary, tokenizer, dtype, read }
  } catch (error) {
    trial?.stop()
    await model?.close()
    throw await directory.refusalOf(error)
  }
}

/** Starts the threads for constraints and for prompts. */
function startServices(
  { directory, load, vocabulary, tokenizer, dtype }: Loaded,
  options: OpenOptions,
  { slotCount, maxWaiting, promptMs, limits, log, isolates, isBounded }: Settings,
): Pick<EngineParts, "guides" | "prompts" | "slowReading"> {
  const thread = { model: directory.path, dtype, width: vocabulary.width }
  const guides = isolates
    ? new ThreadedGuides({
        ...thread,
        words: vocabulary.words,
        slotCount,
        limits: { ...defaultWorkLimits, ...limits },
        spareCount: atLeast("spareThreads", options.spareThreads ?? 0, 0),
        warms: options.warmsUp ?? false,
        maxSlow: Math.max(1, availableParallelism() - 1),
        log,
      })
    : null
  const prompts = new PromptEncoder({
    tokenizer,
    contextLength: load.contextLength,
    threads: isolates ? promptThreads(thread) : null,
    isKnown: !isBounded,
    promptMs,
    maxWaiting: Math.max(256, maxWaiting),
  })
  return { guides, prompts, ...(isolates && { slowReading: new SlowReading() }) }
}

/** The provider that a built graph is written for, by its name in the model's thread. */
const providers: Readonly<Record<LoadOptions["provider"], Provider>> = { cpu: "cpu", webgpu: "web" }

/** Finds the files of a model. */
function locate(
  model: string,
  dtype: string | undefined,
  { log, offline, signal, onDownload: onProgress }: OpenOptions,
): Promise<LocatedModel> {
  return locateModel(model, { dtype, log, offline, signal, onProgress })
}

interface OpenedDirectory extends ModelDirectory {
  /**
   * Returns the error to throw if the model of a directory is refused after its files were read.
   * Removes the directory if it was built just now.
   */
  readonly refusalOf: (error: unknown) => Promise<unknown>
}

/**
 * Returns the contents of the model's directory, which is built first if there are only weights.
 */
async function openDirectory(
  { path, id, source }: LocatedModel,
  provider: Provider,
  { dtype, log, signal, onConvert: onProgress }: OpenOptions,
): Promise<OpenedDirectory> {
  if (source === null) {
    const directory = await readModelDirectory(path, dtype)
    return { ...directory, ...(id !== undefined && { id }), refusalOf: async (error) => error }
  }
  const built = new BuiltModels(readPlaces(process.env).built)
  const directory = await built.directoryOf(source, { dtype, provider, log, signal, onProgress })
  const refusalOf = (error: unknown) => built.refusalOf(error, source, directory)
  try {
    return { ...(await readModelDirectory(directory)), id: source.name, refusalOf }
  } catch (error) {
    throw await refusalOf(error)
  }
}

/** The code for GPUs is loaded only if one is requested. */
async function chooseSampler(
  device: "auto" | "gpu" | "cpu",
  log: (line: string) => void,
): Promise<ChosenSampler> {
  if (device === "cpu") return { sampler: createCpuSampler(), description: "cpu" }
  const { openSampler } = await import("./device.ts")
  return openSampler(device, log)
}

/** Checks that a model can run with onnxruntime-web. Throws ModelError. */
function checkWeb({ device, threads, speculation }: OpenOptions): void {
  if (device === "cpu") throw new ModelError("runtime: web runs on a GPU, and device is cpu: choose node")
  if (threads !== undefined) throw new ModelError("threads: the runtime web has one: leave it out")
  if (speculation?.method === "model") {
    throw new ModelError("speculation: a draft model does not run beside the runtime web: choose ngram")
  }
  requireWeb()
}

/** Starts the model, and its sampler if none was chosen. */
async function startModel(
  load: LoadOptions,
  chosen: ChosenSampler | null,
  located: LocatedModel,
  options: OpenOptions,
): Promise<ChosenSampler & { readonly model: Model }> {
  if (chosen) return { ...chosen, model: await loadModel(load, located, options) }
  const { openWebModel } = await import("./model/web/client.ts")
  const { graphPath, embeddingPath, slotCount, contextLength, batching, config } = load
  const { model, sampler, device } = await openWebModel({
    ...{ graphPath, embeddingPath, slotCount, contextLength, batching, config },
    software: options.device === "gpu",
  })
  return { model, sampler, description: `on its device (${device})` }
}

/**
 * If the GPU's provider refuses a graph, it runs on the CPU, unless the caller insists on the GPU.
 */
async function loadModel(
  load: LoadOptions,
  located: LocatedModel,
  options: Pick<OpenOptions, "device" | "dtype" | "log" | "signal" | "onConvert">,
): Promise<Model> {
  try {
    return await openOrtModel(load)
  } catch (error) {
    if (load.provider === "cpu" || options.device === "gpu") throw error
    options.log?.(`model on cpu: the GPU refused it (${(error as Error).message})`)
    // For the CPU another graph may have to be built.
    const { graphPath } = await openDirectory(located, providers.cpu, options)
    return openOrtModel({ ...load, graphPath, provider: "cpu" })
  }
}

/**
 * Opens the second model: its own thread, and one slot for each of the engine's. Throws ModelError.
 */
async function openDraftModel(
  { model: path, dtype }: SpeculationOptions & { method: "model" },
  load: LoadOptions,
  parts: { vocabulary: Vocabulary; sampler: Sampler; log: (line: string) => void; options: OpenOptions },
): Promise<ModelDrafter> {
  const located = await locate(path, dtype, parts.options)
  const own = { ...parts.options, dtype, device: "auto" as const }
  const directory = await openDirectory(located, providers[load.provider], own)
  const contextLength = Math.min(load.contextLength, directory.contextLength ?? load.contextLength)
  const { graphPath, embeddingPath, config } = directory
  const ownLoad = { ...load, graphPath, embeddingPath, config, contextLength }
  const model = await loadModel(ownLoad, located, own).catch(async (error) => {
    throw await directory.refusalOf(error)
  })
  try {
    checkSameVocabulary(parts.vocabulary, readVocabulary(directory, model))
    if (!model.canRewind) throw new RangeError(cannotRewind(model))
    return new ModelDrafter(model, parts.sampler, parts.vocabulary, directory.id)
  } catch (cause) {
    await model.close()
    throw new ModelError(`draft model ${path}: ${(cause as Error).message}`, { cause })
  }
}
