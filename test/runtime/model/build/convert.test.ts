/** Whole conversions: a GGUF file by each of its names, a folder of safetensors, what is refused before anything is written. */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest"
import { ModelError, type OpenOptions, open } from "../../../../runtime/index.ts"
import { BuiltModels } from "../../../../runtime/model/build/cache.ts"
import { inspect } from "../../../../runtime/model/build/prepare.ts"
import { buildVocabulary } from "../../../../runtime/model/build/vocabulary.ts"
import { findModels } from "../../../../runtime/model/hub/inventory.ts"
import { readPlaces } from "../../../../runtime/model/hub/places.ts"
import { ggufSource } from "../../../../runtime/model/hub/source.ts"
import { checkRoom } from "../../../../runtime/model/room.ts"
import { openGguf } from "../../../../runtime/model/weights/gguf.ts"
import type { PlacedTensor } from "../../../../runtime/model/weights/storage.ts"
import { HubServer } from "../../../support/hubserver.ts"
import { writeOllamaModel } from "../../../support/modelfolders.ts"
import { withSmallDisk } from "../../../support/smalldisk.ts"
import { safetensorsFile } from "../../../support/weightsfiles.ts"

const fixture = "test/decoders/llama.gguf"
const content = readFileSync(fixture)
const hub = new HubServer([{ path: "tiny-Q4_K_M.gguf", content }])
let home: string
beforeAll(() => hub.start())
afterAll(() => hub.close())
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "home-"))
  const variables = { HOME: home, XDG_CACHE_HOME: join(home, "cache"), OLLAMA_MODELS: join(home, "ollama") }
  for (const [name, value] of Object.entries({
    ...variables,
    HF_ENDPOINT: hub.url,
    HF_HUB_CACHE: join(home, "hub"),
  }))
    vi.stubEnv(name, value)
  return () => {
    vi.unstubAllEnvs()
    rmSync(home, { recursive: true })
  }
})
const at = (path: string) => join(home, path)
const root = () => at("cache/tokenrail/models")

/** Opens it, and lets it write within a pattern. */
async function write(model: string, options: OpenOptions = {}) {
  const lines: string[] = []
  const engine = await open({ model, device: "cpu", slots: 1, log: (line) => lines.push(line), ...options })
  try {
    const { text } = await engine.generate("Hi", { regex: "[a-c]{3}", seed: 1 })
    expect(text).toMatch(/^[a-c]{3}$/)
    return { id: engine.model.id, lines, text }
  } finally {
    await engine.close()
  }
}

test("a GGUF file opens by each of its names, and is converted once", async () => {
  copyFileSync(fixture, at("tiny.gguf"))
  const done: number[] = []
  const first = await write(at("tiny.gguf"), {
    onConvert: ({ doneBytes, allBytes }) => done.push(doneBytes / allBytes),
  })
  expect([first.id, done.at(-1)]).toEqual(["tiny", 1])
  expect(first.lines[0]).toMatch(/^converting .*tiny\.gguf, once$/)
  const again = await write(at("tiny.gguf"), { onConvert: () => done.push(2) })
  expect([again.text, again.lines.length, done.includes(2)]).toEqual([first.text, 1, false])
  mkdirSync(at(".lmstudio/models/acme/tiny"), { recursive: true })
  copyFileSync(fixture, at(".lmstudio/models/acme/tiny/tiny-Q8_0.gguf"))
  writeOllamaModel(at("ollama"), "registry.ollama.ai/library/tiny/1b", [{ type: "model", content }])
  for (const name of ["lmstudio:acme/tiny:q8_0", "ollama:tiny:1b", "acme/tiny:Q4_K_M"]) {
    const { id, text } = await write(name)
    expect([id, text]).toEqual([name.replace(/^(ollama|lmstudio):/, ""), first.text])
  }
  const found = await findModels(readPlaces(process.env, home), inspect)
  expect(found.map(({ name, refusal }) => [name, refusal])).toEqual([
    ["acme/tiny:Q4_K_M", undefined],
    ["ollama:tiny:1b", undefined],
    ["lmstudio:acme/tiny:Q8_0", undefined],
  ])
}, 120_000)

test("a folder of safetensors opens like its GGUF file, as each type of weights", async () => {
  const gguf = await openGguf(fixture)
  mkdirSync(at("tiny"))
  for (const [path, text] of buildVocabulary(gguf.metadata).files) {
    mkdirSync(dirname(at(`tiny/${path}`)), { recursive: true })
    writeFileSync(at(`tiny/${path}`), text)
  }
  const vocabulary = gguf.tensors.get("token_embd.weight")!.shape[0]
  gguf.close()
  writeFileSync(at("tiny/config.json"), JSON.stringify(llama(vocabulary)))
  writeFileSync(at("tiny/model.safetensors"), tensorsOf(vocabulary))
  const sampling = JSON.stringify({ do_sample: false, eos_token_id: vocabulary - 3 })
  writeFileSync(at("tiny/generation_config.json"), sampling)
  for (const dtype of [undefined, "q4", "fp32"]) {
    const { id, lines } = await write(at("tiny"), dtype === undefined ? {} : { dtype })
    expect([id, lines[0]]).toEqual(["tiny", `converting ${at("tiny")} (${dtype ?? "q8"}), once`])
  }
  const copies = await new BuiltModels(root()).list()
  expect(copies.length).toBe(3)
  // How the model is meant to be drawn from comes along.
  for (const { path } of copies)
    expect(readFileSync(join(path, "generation_config.json"), "utf8")).toBe(sampling)
}, 120_000)

/** A configuration of one small layer. */
function llama(vocabulary: number): object {
  return {
    ...{
      architectures: ["LlamaForCausalLM"],
      model_type: "llama",
      hidden_act: "silu",
      vocab_size: vocabulary,
    },
    ...{ hidden_size: 64, intermediate_size: 96, num_hidden_layers: 1, num_attention_heads: 4 },
    ...{ num_key_value_heads: 2, rms_norm_eps: 1e-5, rope_theta: 10000, max_position_embeddings: 256 },
    ...{ tie_word_embeddings: true, eos_token_id: vocabulary - 3, torch_dtype: "float32" },
  }
}

function tensorsOf(vocabulary: number): Uint8Array {
  const layer = "model.layers.0"
  const shapes: Record<string, number[]> = {
    "model.embed_tokens.weight": [vocabulary, 64],
    "model.norm.weight": [64],
    [`${layer}.input_layernorm.weight`]: [64],
    [`${layer}.post_attention_layernorm.weight`]: [64],
    [`${layer}.self_attn.q_proj.weight`]: [64, 64],
    [`${layer}.self_attn.k_proj.weight`]: [32, 64],
    [`${layer}.self_attn.v_proj.weight`]: [32, 64],
    [`${layer}.self_attn.o_proj.weight`]: [64, 64],
    [`${layer}.mlp.gate_proj.weight`]: [96, 64],
    [`${layer}.mlp.up_proj.weight`]: [96, 64],
    [`${layer}.mlp.down_proj.weight`]: [64, 96],
  }
  const header: Record<string, object> = {}
  let end = 0
  for (const [name, shape] of Object.entries(shapes)) {
    const start = end
    end += 4 * shape.reduce((product, size) => product * size, 1)
    header[name] = { dtype: "F32", shape, data_offsets: [start, end] }
  }
  const values = new Float32Array(end / 4).map((_, i) => Math.sin(i * 7.3 + 1) / 4)
  return safetensorsFile(header, new Uint8Array(values.buffer))
}

test.each<
  [
    what: string,
    change: (bytes: Buffer) => Uint8Array | Promise<Uint8Array>,
    options: OpenOptions,
    message: string,
  ]
>([
  ["no bytes", () => new Uint8Array(), {}, "x.gguf: "],
  ["no GGUF", () => Buffer.from("hello, this is no model at all"), {}, "x.gguf: "],
  ["a file that was cut off", (bytes) => bytes.subarray(0, bytes.length - 1000), {}, "x.gguf: "],
  ["a header that was cut off", (bytes) => bytes.subarray(0, 1000), {}, "x.gguf: "],
  ["an unknown architecture", named("llama", "lmama"), {}, '"lmama" is not served'],
  ["an unknown pre-tokenizer", named("gpt-2", "gpt-x"), {}, "gpt-x"],
  [
    "a type of weights that it does not have",
    (bytes) => bytes,
    { dtype: "q4" },
    "dtype q4 is for float weights. Leave it out",
  ],
  [
    "a norm that is not a number",
    notNumber("output_norm.weight"),
    {},
    'x.gguf: tensor "output_norm.weight": a weight of type F32 is infinite or not a number',
  ],
  [
    "an infinite scale of a block",
    notNumber("blk.1.ffn_down.weight"),
    {},
    'x.gguf: tensor "blk.1.ffn_down.weight": a weight of type Q8_0 is infinite or not a number',
  ],
  [
    "angles that are not numbers",
    notNumber("rope_freqs.weight"),
    {},
    'x.gguf: tensor "rope_freqs.weight": a weight of type F32 is infinite or not a number',
  ],
  [
    "a type of weights of graphs",
    (bytes) => bytes,
    { dtype: "q4f16" },
    "dtype q4f16 exists only for ONNX graphs",
  ],
])("refused in one line, and nothing is written: %s", async (_, change, options, message) => {
  writeFileSync(at("x.gguf"), await change(Buffer.from(content)))
  const error = await open({ model: at("x.gguf"), device: "cpu", ...options }).then(
    String,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(ModelError)
  expect((error as Error).message).toContain(message)
  expect((error as Error).message).toContain(at("x.gguf"))
  expect((error as Error).message).not.toContain("\n")
  expect(existsSync(root()) ? readdirSync(root()) : []).toEqual([])
})

/** Writes another name of the same length in the first place that it has. */
function named(name: string, other: string): (bytes: Buffer) => Uint8Array {
  return (bytes) => {
    // Behind its length, as values are written.
    const length = Buffer.alloc(8)
    length.writeUInt32LE(name.length)
    bytes.write(other, bytes.indexOf(Buffer.concat([length, Buffer.from(name)])) + 8)
    return bytes
  }
}

/** Writes bytes that make the first block or number of a tensor no number. */
function notNumber(tensor: string): (bytes: Buffer) => Promise<Uint8Array> {
  return async (bytes) => {
    const offset = await offsetOf(tensor)
    return bytes.fill(0xff, offset, offset + 4)
  }
}

/** Where a tensor lies in the file. */
async function offsetOf(tensor: string): Promise<number> {
  const gguf = await openGguf(fixture)
  gguf.close()
  return (gguf.tensors.get(tensor) as PlacedTensor).offset
}

test("a blob of Ollama's that is not what its name says is refused, and nothing is written", async () => {
  const place = "registry.ollama.ai/library/tiny/1b"
  writeOllamaModel(at("ollama"), place, [{ type: "model", content }])
  const [{ path }] = await findModels(readPlaces(process.env, home), inspect)
  const bytes = Buffer.from(content)
  bytes[bytes.length - 1] ^= 1
  writeFileSync(path, bytes)
  await expect(write("ollama:tiny:1b")).rejects.toThrow(
    `${path}: its content does not match the digest in its name. Download it again`,
  )
  expect(readdirSync(root())).toEqual([])
})

test("what does not open once it is converted is named by its weights, and is not kept", async () => {
  const bytes = Buffer.from(content)
  bytes.writeFloatLE(1e38, await offsetOf("blk.0.attn_norm.weight"))
  writeFileSync(at("x.gguf"), bytes)
  await expect(write(at("x.gguf"))).rejects.toThrow(
    `${at("x.gguf")}: its converted copy does not open: the graph does not run: its logits are not numbers`,
  )
  expect(readdirSync(root())).toEqual([])
})

test("the list of models reads no tokens and merges", async () => {
  const bytes = Buffer.from(content)
  const merges = Buffer.from("tokenizer.ggml.token_type")
  bytes.write("tokenizer.ggml.token_typo", bytes.indexOf(merges))
  writeFileSync(at("x.gguf"), bytes)
  await inspect(ggufSource(at("x.gguf")))
  await expect(write(at("x.gguf"))).rejects.toThrow(
    `${at("x.gguf")}: metadata "tokenizer.ggml.token_type" is missing`,
  )
})

test("a disk without room is refused before anything is written", async () => {
  const disk = { folder: home, way: "set XDG_CACHE_HOME to another place" }
  await expect(checkRoom("x.gguf: its converted copy", disk, 1e18)).rejects.toThrow(
    /^x\.gguf: its converted copy takes 1000000000000 MB, and .* has \d+.* MB left\. Make room, or set XDG_CACHE_HOME/,
  )
  await checkRoom("x", disk, 1)
  await inspect(ggufSource(fixture))
})

test("a small disk is refused before anything is written (needs the right to mount)", async (context) => {
  const isMounted = await withSmallDisk(at("cache"), 2 ** 20, async () => {
    copyFileSync(fixture, at("tiny.gguf"))
    await expect(write(at("tiny.gguf"))).rejects.toThrow(
      /^.*tiny\.gguf: its converted copy takes \d\.\d MB, and .* has 1\.0 MB left\. Make room, or set XDG_CACHE_HOME to another place$/,
    )
    expect(readdirSync(root())).toEqual([])
  })
  if (!isMounted) context.skip("no right to mount a tmpfs")
})
