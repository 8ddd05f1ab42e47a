/** The list of all models on this machine. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { beforeEach, expect, test } from "vitest"
import { ModelError } from "../../../../runtime/index.ts"
import { findModels } from "../../../../runtime/model/hub/inventory.ts"
import { locateModel } from "../../../../runtime/model/hub/locate.ts"
import { readPlaces } from "../../../../runtime/model/hub/places.ts"
import type { ModelSource } from "../../../../runtime/model/hub/source.ts"
import { writeOllamaModel } from "../../../support/modelfolders.ts"

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "home-"))
  return () => rmSync(home, { recursive: true })
})
const places = () =>
  readPlaces({ HF_HUB_CACHE: join(home, "hub"), OLLAMA_MODELS: join(home, "ollama") }, home, "linux")

function write(folder: string, ...paths: string[]): void {
  for (const path of paths) {
    mkdirSync(dirname(join(home, folder, path)), { recursive: true })
    writeFileSync(join(home, folder, path), path)
  }
}

/** What is called bad is refused, and what is called broken cannot be read. */
async function inspect({ path }: ModelSource): Promise<void> {
  if (/\bbad\b/.test(path)) throw new ModelError(`${path}: architecture "mamba" is not served`)
  if (/\bbroken\b/.test(path)) throw Object.assign(new Error("EACCES: permission denied"), { code: "EACCES" })
}

test("nothing where there is nothing", async () => {
  expect(await findModels(places(), inspect)).toEqual([])
})

test("each place, each model by the name that opens it, with why it does not open", async () => {
  const [main, tagged] = ["a", "b"].map((letter) => letter.repeat(40))
  const copy = (commit: string, name = "acme--tiny") => `hub/models--${name}/snapshots/${commit}`
  write(copy(main), "config.json", "tokenizer.json", "onnx/model.onnx", "onnx/model_q4.onnx", "x-Q4_0.gguf")
  write(copy(tagged), "x-Q4_0.gguf", "x-Q8_0.gguf", "mmproj-x.gguf", "big-00001-of-00002.gguf")
  write(copy(main, "acme--bad"), "model.safetensors.index.json", "model-00001-of-00001.safetensors")
  write(copy(main, "acme--text"), "README.md")
  write("hub/models--acme--tiny/refs", "main", "v2")
  writeFileSync(join(home, "hub/models--acme--tiny/refs/main"), main)
  writeFileSync(join(home, "hub/models--acme--tiny/refs/v2"), tagged)
  writeOllamaModel(join(home, "ollama"), "registry.ollama.ai/library/tiny/1b", [
    { type: "model", content: "GGUF" },
  ])
  writeOllamaModel(join(home, "ollama"), "registry.ollama.ai/library/cloud/x", [
    { type: "params", content: "{}" },
  ])
  write(".lmstudio/models/acme/one", "one-Q6_K.gguf", "broken.gguf")
  write(".lmstudio/models/acme/mlx", "config.json", "model.safetensors")
  write(
    ".cache/llama.cpp",
    "acme_tiny_x-Q4_0.gguf",
    "acme_tiny_x-Q4_0.gguf.json",
    "bad.gguf",
    "sub/deep.gguf",
  )
  symlinkSync("nowhere", join(home, ".cache/llama.cpp/gone.gguf"))
  const found = await findModels(places(), inspect)
  const llama = join(home, ".cache/llama.cpp")
  expect(found.map(({ name, kind, refusal }) => [name, kind, refusal])).toEqual([
    [`acme/bad@${main}`, "safetensors", 'architecture "mamba" is not served'],
    ["acme/tiny", "onnx", undefined],
    ["acme/tiny@v2:big", "gguf", "1 of 2 parts exist"],
    ["acme/tiny@v2:Q4_0", "gguf", undefined],
    ["acme/tiny@v2:Q8_0", "gguf", undefined],
    ["ollama:cloud:x", "gguf", expect.stringMatching(/^it has no weights on this machine/)],
    ["ollama:tiny:1b", "gguf", undefined],
    ["lmstudio:acme/mlx", "safetensors", undefined],
    ["lmstudio:acme/one:broken", "gguf", "EACCES: permission denied"],
    ["lmstudio:acme/one:Q6_K", "gguf", undefined],
    [join(llama, "acme_tiny_x-Q4_0.gguf"), "gguf", undefined],
    [join(llama, "bad.gguf"), "gguf", 'architecture "mamba" is not served'],
  ])
  expect(found[1]).toMatchObject({ dtypes: ["fp32", "q4"], revisions: ["main"], commit: main })
  expect(found[4].bytes).toBe("x-Q8_0.gguf".length)
  const env = { HF_HUB_CACHE: join(home, "hub") }
  for (const { name, path, refusal } of found)
    if (refusal === undefined)
      expect([name, (await locateModel(name, { env, places: places(), offline: true })).path]).toEqual([
        name,
        path,
      ])
})
