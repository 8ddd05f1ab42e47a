/**
 * Opens an engine in a worker of a page: the files come from a web server, the model runs in
 * WebAssembly, and constraints and prompts are worked on in the same thread. All else is the engine
 * of Node.
 */

import { checkOptions } from "../../grammar/options.ts"
import { createCpuSampler } from "../../sampler/index.ts"
import { readSeed } from "../../sampler/params.ts"
import { Engine } from "../engine/engine.ts"
import { ModelError } from "../errors.ts"
import { atLeast, chooseContext, chooseStyle, readLimits, readVocabulary } from "../fitting.ts"
import { defaultWorkLimits } from "../guides/protocol.ts"
import { readModelFiles } from "../model/directory.ts"
import type { Model } from "../model/model.ts"
import { Tokenizer } from "../model/tokenizer.ts"
import { openWasmModel, type WasmOrt } from "../model/wasm/model.ts"
import { defaultPromptMs, PromptEncoder } from "../prompt/encoder.ts"
import { WebFiles, type WebModel } from "./files.ts"
import { type PageModelOptions, pageModelFields } from "./options.ts"
import { type FileProgress, FileStore, type StoredFile } from "./store.ts"

/** What the worker brings. */
export interface PageParts {
  readonly ort: WasmOrt
  /** The module of onnxruntime-web in WebAssembly. */
  readonly wasm: StoredFile
  /** The embedded model. */
  readonly embedded: Required<WebModel>
  readonly onDownload: (progress: FileProgress) => void
  readonly log: (line: string) => void
}

/**
 * Opens an engine. Throws ModelError naming the file, OptionError for an unknown option, and
 * RangeError for an impossible value.
 */
export async function openInPage(options: PageModelOptions, parts: PageParts): Promise<Engine> {
  checkOptions(options, pageModelFields)
  const { log } = parts
  const slotCount = atLeast("slots", options.slots ?? 4, 1)
  const maxWaiting = atLeast("maxWaiting", options.maxWaiting ?? Number.POSITIVE_INFINITY, 0)
  const seed = readSeed(options.seed)
  const { onDownload } = parts
  const { cache = "tokenrail" } = options
  const store = new FileStore({ cache, onDownload, log })
  const files = new WebFiles(placeOf(options, parts.embedded), store)
  const directory = await readModelFiles(files, options.dtype)
  const contextLength = chooseContext(directory, options.context)
  const { graphPath, embeddingPath, config } = directory
  parts.ort.env.wasm.wasmBinary = await wasmBytes(store, parts.wasm)
  const model = await openWasmModel(parts.ort, {
    ...{ graphPath, embeddingPath, config, slotCount, contextLength },
    read: (path) => files.bytesAt(path),
    batching: options.batching ?? "exact",
  })
  try {
    await store.keepMissing()
    const vocabulary = readVocabulary(directory, model)
    const tokenizer = new Tokenizer(directory, vocabulary)
    const sampler = createCpuSampler()
    const { id, createdAt, fileType, parameterCount, weightBytes } = directory
    log(`model ${id} on ${model.description}, sampler cpu`)
    return new Engine({
      ...{ model, sampler, tokenizer, id, createdAt, fileType, parameterCount, weightBytes },
      prompts: new PromptEncoder({
        ...{ tokenizer, contextLength, threads: null, promptMs: defaultPromptMs },
        maxWaiting: Math.max(256, maxWaiting),
      }),
      guides: null,
      limits: { ...defaultWorkLimits, ...readLimits(options.limits) },
      family: typeof config.model_type === "string" ? config.model_type : "",
      style: chooseStyle(tokenizer.template.allSources, options),
      ...{ maxWaiting, seed, speculator: null, guesses: true, log },
    })
  } catch (error) {
    await (model satisfies Model).close()
    throw error
  }
}

/** Returns where the model is. Without a secure context nothing can be checked. */
function placeOf({ model, checksums }: PageModelOptions, embedded: Required<WebModel>): WebModel {
  if (model !== undefined) return { model, checksums }
  return crypto.subtle === undefined ? { model: embedded.model } : embedded
}

async function wasmBytes(store: FileStore, { url, sha256 }: StoredFile): Promise<ArrayBuffer> {
  const file = { url, sha256: crypto.subtle === undefined ? undefined : sha256 }
  const response = await store.get(file)
  if (response) return response.arrayBuffer()
  throw new ModelError(
    `${url} is missing. Serve ort-wasm-simd-threaded.wasm of onnxruntime-web, and pass its URL as \`wasm\``,
  )
}
