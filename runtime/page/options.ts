/** The options of an engine in a page that its worker reads. They are plain data. */

import type { Fields } from "../../grammar/options.ts"
import type { WorkLimits } from "../guides/protocol.ts"

/** Options that say which model to open, and how it runs. */
export interface PageModelOptions {
  /**
   * URL of a folder in the Hugging Face layout with an ONNX graph; or the URL of each file, by its
   * path in that folder. Default: the embedded model.
   */
  model?: string | Readonly<Record<string, string>>
  /**
   * SHA-256 of each file of the model by its path, in hexadecimal digits. Files that are not listed
   * count as missing. Default: files are not checked.
   */
  checksums?: Readonly<Record<string, string>>
  /**
   * Name of the Cache of the browser in which the files are kept; null: they are not kept. Default:
   * "tokenrail". A kept file is used until its checksum changes or the Cache is deleted.
   */
  cache?: string | null
  /**
   * The type of the weights, if there are several graphs: fp32 (default), fp16, int8, uint8, q8,
   * q4, q4f16, bnb4.
   */
  dtype?: string
  /** Whether rows whose bits depend on each other run alone; see `open` of Node. Default exact. */
  batching?: "exact" | "fast"
  /** Maximum number of sequences that run at once. Default 4. */
  slots?: number
  /** Maximum tokens of prompt and output together. Default and upper limit: as the model says. */
  context?: number
  /** Maximum number of sequences that wait for a slot. Default: no limit. */
  maxWaiting?: number
  /**
   * Maximum milliseconds of one compilation (2,000), one mask (1,000) and one completion (1,000).
   * Work that does not read the clock is not ended.
   */
  limits?: Partial<WorkLimits>
  /** The seed of requests that have none. Default: a random one for each. */
  seed?: bigint | number | string
  /** The form of the model's tool calls. Default: the form in its chat template. */
  toolStyle?: string
  /** How the model marks its reasoning; see `open` of Node. Default auto. */
  reasoning?: string
}

export const pageModelFields = {
  ...{ model: "any", checksums: "textmap", cache: "text", dtype: "text" },
  batching: { words: ["exact", "fast"] },
  ...{ slots: "number", context: "number", maxWaiting: "number", seed: "any" },
  limits: { fields: { compileMs: "number", maskMs: "number", completionMs: "number" } },
  ...{ toolStyle: "text", reasoning: "text" },
} as const satisfies Fields<PageModelOptions>
