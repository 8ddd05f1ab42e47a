/**
 * A tiny decoder with random weights, written as an ONNX file: one attention layer, learned positions, a cache.
 *
 * For tests of loading and batching that need a graph of a chosen shape: other inputs, no cache, a mask that is ignored,
 * positions counted by the graph. The protobuf messages are those of onnx.proto3, written field by field.
 */

import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

export interface TinyOptions {
  width?: number
  /** Renames or adds inputs that the graph does not need. */
  extraInput?: string
  hasCache?: boolean
  hasPositions?: boolean
  /** A graph that looks at every key, whatever the attention mask says. */
  ignoresMask?: boolean
  /** Keys are handed on as values, and values as keys: right without a past only. */
  swapsCache?: boolean
  /** Caches and logits of 16 bits; the graph computes in 32. */
  isHalf?: boolean
  /** The last product is of integers, scaled by the largest value of the batch. */
  isQuantised?: boolean
  /** Attention by the operator GroupQueryAttention; without positions it also rotates by them. */
  isGrouped?: boolean
  /**
   * Beside that operator: a window of so many tokens, scores bounded softly by so much, a score a
   * head that belongs to no token.
   */
  grouped?: { window?: number; softcap?: number; hasSinks?: boolean }
  contextLength?: number
  /** Files beside the graph that hold its weights, in turn. Default: the graph holds them. */
  dataFiles?: readonly string[]
  /** Rows of the embedding: a larger token id fails inside the graph. Default: the width. */
  failsAbove?: number
  config?: Record<string, unknown>
  /** Weights that differ from the other models' by this share: a draft model that is often right. Default 0. */
  noise?: number
  /** Text tokens; ids after them: `<|user|>`, `<|assistant|>`, `<|end|>`. Default: all bytes. */
  tokens?: string[]
  /** Further control tokens. */
  controls?: readonly string[]
  /** The token that ends a text. Default `<|end|>`. */
  end?: string
  /** Its chat template. */
  template?: string
}

/** Types of onnx.proto3. */
const [Float32, Int32, Float16] = [1, 6, 10]
const hidden = 16

/** Rotations need heads of sixteen. */
function headsOf({ isGrouped, hasPositions = true }: TinyOptions): { heads: number; dim: number } {
  const heads = isGrouped && !hasPositions ? 1 : 2
  return { heads, dim: hidden / heads }
}

/** Writes a model directory and returns its path. */
export function writeTinyModel(directory: string, options: TinyOptions = {}): string {
  const contextLength = options.contextLength ?? 512
  const pieces = options.tokens ?? byteLevelAlphabet()
  const names = ["<|user|>", "<|assistant|>", options.end ?? "<|end|>", ...(options.controls ?? [])]
  const width = options.width ?? pieces.length + names.length + 2
  mkdirSync(join(directory, "onnx"), { recursive: true })
  const json = (name: string, value: unknown) => writeFileSync(join(directory, name), JSON.stringify(value))
  const data = new Map<string, Bytes[]>()
  writeFileSync(join(directory, "onnx/model.onnx"), tinyGraph(width, contextLength, options, data))
  for (const [file, parts] of data) {
    mkdirSync(dirname(join(directory, "onnx", file)), { recursive: true })
    writeFileSync(join(directory, "onnx", file), message(parts))
  }
  json("config.json", {
    model_type: "tiny",
    vocab_size: width,
    hidden_size: hidden,
    num_attention_heads: headsOf(options).heads,
    max_position_embeddings: contextLength,
    eos_token_id: pieces.length + 2,
    ...options.config,
  })
  json("tokenizer.json", {
    version: "1.0",
    added_tokens: names.map((content, index) => ({
      id: pieces.length + index,
      content,
      special: true,
      normalized: false,
      single_word: false,
      lstrip: false,
      rstrip: false,
    })),
    normalizer: null,
    pre_tokenizer: { type: "ByteLevel", add_prefix_space: false, use_regex: false, trim_offsets: true },
    post_processor: null,
    decoder: { type: "ByteLevel", add_prefix_space: false, use_regex: false, trim_offsets: true },
    model: {
      type: "BPE",
      vocab: Object.fromEntries(pieces.map((piece, id) => [piece, id])),
      merges: [],
      unk_token: null,
      byte_fallback: false,
      ignore_merges: false,
    },
  })
  json("tokenizer_config.json", {
    eos_token: options.end ?? "<|end|>",
    chat_template:
      options.template ??
      "{% for message in messages %}{{ '<|' + message.role + '|>' + message.content + '<|end|>' }}{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}",
  })
  return directory
}

/** The 256 code points that byte-level tokenizers use for bytes, in the order of the bytes. */
export function byteLevelAlphabet(): string[] {
  let next = 256
  return Array.from({ length: 256 }, (_, byte) => {
    const isPlain = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174
    return String.fromCodePoint(isPlain ? byte : next++)
  })
}

/** `data` is told what goes into which file beside the graph. */
function tinyGraph(
  width: number,
  contextLength: number,
  options: TinyOptions,
  data: Map<string, Bytes[]>,
): Uint8Array {
  const { heads, dim } = headsOf(options)
  const hasCache = options.hasCache ?? true
  const hasPositions = options.hasPositions ?? true
  const random = generator(12345)
  const noise = generator(54321)
  const files = options.dataFiles ?? []
  let weightsCount = 0
  const weights = (name: string, dims: number[], scale: number): Bytes => {
    const size = dims.reduce((product, each) => product * each, 1)
    const off = options.noise ?? 0
    const values = Float32Array.from(
      { length: size },
      () => (random() * 2 - 1 + off * (noise() * 2 - 1)) * scale,
    )
    if (files.length === 0) return floats(name, dims, values)
    const file = files[weightsCount++ % files.length]
    const before = data.get(file) ?? []
    data.set(file, [...before, new Uint8Array(values.buffer)])
    const offset = before.reduce((sum, { length }) => sum + length, 0)
    return elsewhere(name, dims, { location: file, offset, length: values.byteLength })
  }
  const angles = (name: string, of: (angle: number) => number): Bytes => {
    const half = dim / 2
    const angle = (at: number) => Math.floor(at / half) / 100 ** ((at % half) / half)
    return floats(
      name,
      [contextLength, half],
      Float32Array.from({ length: contextLength * half }, (_, at) => of(angle(at))),
    )
  }
  const nodes: Bytes[] = []
  const add = (op: string, inputs: string[], output: string, attributes: Bytes[] = []): string => {
    nodes.push(node(op, inputs, [output], attributes))
    return output
  }
  const initializers = [
    weights("embedding", [options.failsAbove ?? width, hidden], 1),
    weights("places", [contextLength, hidden], 0.5),
    ...["wq", "wk", "wv", "wo"].map((name) => weights(name, [hidden, hidden], 0.6)),
    weights("head", [hidden, width], 1.5),
    ints("split", [4], [0, 0, heads, dim]),
    ints("join", [3], [0, 0, hidden]),
    ints("axis1", [1], [1]),
    ints("axes12", [2], [1, 2]),
    ints("zero", [], [0]),
    ints("one", [], [1]),
    ints("index1", [], [1]),
    ...(options.isGrouped ? [angles("cosines", Math.cos), angles("sines", Math.sin)] : []),
    ...(options.grouped?.hasSinks
      ? [
          floats(
            "sinks",
            [heads],
            Float32Array.from({ length: heads }, (_, head) => head + 0.5),
          ),
        ]
      : []),
    floats("scale", [], Float32Array.of(dim ** -0.5)),
    floats("allow", [], Float32Array.of(0)),
    floats("deny", [], Float32Array.of(-1e9)),
  ]
  const split = (name: string) => {
    add("MatMul", ["x", `w${name}`], `${name}0`)
    add("Reshape", [`${name}0`, "split"], `${name}1`)
    return add("Transpose", [`${name}1`], `${name}2`, [intsAttribute("perm", [0, 2, 1, 3])])
  }
  add("Gather", ["embedding", "input_ids"], "words")
  add("Shape", ["attention_mask"], "maskShape")
  add("Gather", ["maskShape", "index1"], "total")
  add("Shape", ["input_ids"], "idShape")
  add("Gather", ["idShape", "index1"], "count")
  add("Sub", ["total", "count"], "pastCount")
  add("Range", ["zero", "total", "one"], "keyAt")
  add("Range", ["pastCount", "total", "one"], "queryAt")
  if (options.isGrouped && !hasPositions) add("Identity", ["words"], "x")
  else {
    add("Gather", ["places", hasPositions ? "position_ids" : "queryAt"], "placed")
    add("Add", ["words", "placed"], "x")
  }
  const isHalf = options.isHalf ?? false
  const cacheType = isHalf ? Float16 : Float32
  const wide = (name: string) =>
    isHalf ? add("Cast", [name], `${name}.wide`, [intAttribute("to", Float32)]) : name
  const narrow = (name: string, out: string) =>
    isHalf ? add("Cast", [name], out, [intAttribute("to", Float16)]) : add("Identity", [name], out)
  const [pastKey, pastValue] = hasCache
    ? [wide("past_key_values.0.key"), wide("past_key_values.0.value")]
    : ["", ""]
  // The operator gives out the caches as they are handed on, as in exports.
  const isDirect = options.isGrouped && hasCache && !isHalf && !options.swapsCache
  if (options.isGrouped) {
    for (const name of ["q", "k", "v"]) add("MatMul", ["x", `w${name}`], `${name}0`)
    add("ReduceSum", ["attention_mask", "axis1"], "seen0", [intAttribute("keepdims", 0)])
    add("Sub", ["seen0", "one"], "seen1")
    add("Cast", ["seen1"], "seen", [intAttribute("to", Int32)])
    add("Cast", ["total"], "total32", [intAttribute("to", Int32)])
    const inputs = ["q0", "k0", "v0", pastKey, pastValue, "seen", "total32"]
    const attributes = [intAttribute("num_heads", heads), intAttribute("kv_num_heads", heads)]
    if (!hasPositions) {
      inputs.push("cosines", "sines")
      attributes.push(intAttribute("do_rotary", 1))
    }
    const { window, softcap, hasSinks = false } = options.grouped ?? {}
    if (window !== undefined) attributes.push(intAttribute("local_window_size", window))
    if (softcap !== undefined) attributes.push(floatAttribute("softcap", softcap))
    if (hasSinks) {
      while (inputs.length < 11) inputs.push("")
      inputs.push("sinks")
    }
    const caches = isDirect ? ["present.0.key", "present.0.value"] : ["key", "value"]
    const outputs = ["mixed2", ...caches]
    nodes.push(node("GroupQueryAttention", inputs, outputs, attributes, "com.microsoft"))
  } else {
    const q = split("q")
    split("k")
    split("v")
    const concat = (past: string, fresh: string, out: string) =>
      hasCache ? add("Concat", [past, fresh], out, [intAttribute("axis", 2)]) : add("Identity", [fresh], out)
    concat(pastKey, "k2", "key")
    concat(pastValue, "v2", "value")
    add("Transpose", ["key"], "kt", [intsAttribute("perm", [0, 1, 3, 2])])
    add("MatMul", [q, "kt"], "scores0")
    add("Mul", ["scores0", "scale"], "scores1")
    add("Unsqueeze", ["queryAt", "axis1"], "queryColumn")
    add("LessOrEqual", ["keyAt", "queryColumn"], "causal")
    add("Cast", ["attention_mask"], "maskBool0", [intAttribute("to", 9)])
    add("Unsqueeze", ["maskBool0", "axes12"], "maskBool")
    add("And", ["causal", "maskBool"], "visible0")
    add("Where", [options.ignoresMask ? "causal" : "visible0", "allow", "deny"], "bias")
    add("Add", ["scores1", "bias"], "scores2")
    add("Softmax", ["scores2"], "attention", [intAttribute("axis", -1)])
    add("MatMul", ["attention", "value"], "mixed0")
    add("Transpose", ["mixed0"], "mixed1", [intsAttribute("perm", [0, 2, 1, 3])])
    add("Reshape", ["mixed1", "join"], "mixed2")
  }
  if (!isDirect) {
    narrow("key", options.swapsCache ? "present.0.value" : "present.0.key")
    narrow("value", options.swapsCache ? "present.0.key" : "present.0.value")
  }
  add("MatMul", ["mixed2", "wo"], "mixed3")
  add("Add", ["x", "mixed3"], "y")
  if (options.isQuantised) {
    nodes.push(node("DynamicQuantizeLinear", ["y"], ["yBytes", "yScale", "yZero"], []))
    nodes.push(node("DynamicQuantizeLinear", ["head"], ["headBytes", "headScale", "headZero"], []))
    add("MatMulInteger", ["yBytes", "headBytes", "yZero", "headZero"], "sums")
    add("Cast", ["sums"], "sums32", [intAttribute("to", Float32)])
    add("Mul", ["sums32", "yScale"], "scaled")
    add("Mul", ["scaled", "headScale"], "logits32")
  } else add("MatMul", ["y", "head"], "logits32")
  narrow("logits32", "logits")
  const cacheDims = ["B", heads, "P", dim]
  const inputs = [
    valueInfo("input_ids", 7, ["B", "S"]),
    valueInfo("attention_mask", 7, ["B", "T"]),
    ...(hasPositions ? [valueInfo("position_ids", 7, ["B", "S"])] : []),
    ...(hasCache
      ? ["key", "value"].map((part) => valueInfo(`past_key_values.0.${part}`, cacheType, cacheDims))
      : []),
    ...(options.extraInput ? [valueInfo(options.extraInput, 7, ["B", "S"])] : []),
  ]
  const outputs = [
    valueInfo("logits", cacheType, ["B", "S", width]),
    ...["key", "value"].map((part) => valueInfo(`present.0.${part}`, cacheType, ["B", heads, "T", dim])),
  ]
  const graph = message([
    ...nodes.map((each) => bytesField(1, each)),
    textField(2, "tiny"),
    ...initializers.map((each) => bytesField(5, each)),
    ...inputs.map((each) => bytesField(11, each)),
    ...outputs.map((each) => bytesField(12, each)),
  ])
  const opset = message([textField(1, ""), intField(2, 17)])
  const more = message([textField(1, "com.microsoft"), intField(2, 1)])
  return message([intField(1, 8), bytesField(7, graph), bytesField(8, opset), bytesField(8, more)])
}

type Bytes = Uint8Array

function varint(value: bigint): Bytes {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, value)
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128)
  return Uint8Array.of(...bytes, Number(rest))
}

function intField(field: number, value: number): Bytes {
  return message([varint(BigInt(field << 3)), varint(BigInt(value))])
}

function bytesField(field: number, bytes: Bytes): Bytes {
  return message([varint(BigInt((field << 3) | 2)), varint(BigInt(bytes.length)), bytes])
}

function textField(field: number, text: string): Bytes {
  return bytesField(field, Buffer.from(text))
}

function message(fields: Bytes[]): Bytes {
  return Buffer.concat(fields)
}

function node(op: string, inputs: string[], outputs: string[], attributes: Bytes[], domain = ""): Bytes {
  return message([
    ...inputs.map((name) => textField(1, name)),
    ...outputs.map((name) => textField(2, name)),
    textField(3, outputs[0]),
    textField(4, op),
    ...attributes.map((attribute) => bytesField(5, attribute)),
    textField(7, domain),
  ])
}

function intAttribute(name: string, value: number): Bytes {
  return message([textField(1, name), intField(3, value), intField(20, 2)])
}

function floatAttribute(name: string, value: number): Bytes {
  const bytes = Buffer.alloc(4)
  bytes.writeFloatLE(value)
  return message([textField(1, name), varint(BigInt((2 << 3) | 5)), bytes, intField(20, 1)])
}

function intsAttribute(name: string, values: number[]): Bytes {
  return message([textField(1, name), ...values.map((value) => intField(8, value)), intField(20, 7)])
}

function tensor(name: string, dims: number[], type: number, raw: ArrayBufferLike): Bytes {
  return message([
    ...dims.map((size) => intField(1, size)),
    intField(2, type),
    textField(8, name),
    bytesField(9, new Uint8Array(raw)),
  ])
}

function floats(name: string, dims: number[], data: Float32Array): Bytes {
  return tensor(name, dims, 1, data.buffer)
}

/** A tensor of floats in a file of its own. */
function elsewhere(name: string, dims: number[], place: Record<string, string | number>): Bytes {
  return message([
    ...dims.map((size) => intField(1, size)),
    intField(2, Float32),
    textField(8, name),
    ...Object.entries(place).map(([key, value]) =>
      bytesField(13, message([textField(1, key), textField(2, String(value))])),
    ),
    intField(14, 1),
  ])
}

function ints(name: string, dims: number[], values: number[]): Bytes {
  return tensor(name, dims, 7, BigInt64Array.from(values, BigInt).buffer)
}

function valueInfo(name: string, type: number, dims: (number | string)[]): Bytes {
  const shape = dims.map((size) =>
    bytesField(1, typeof size === "number" ? intField(1, size) : textField(2, size)),
  )
  const tensorType = message([intField(1, type), bytesField(2, message(shape))])
  return message([textField(1, name), bytesField(2, bytesField(1, tensorType))])
}

/** Numbers in [0, 1), the same every time (xorshift32). */
export function generator(seed: number): () => number {
  let state = seed
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}
