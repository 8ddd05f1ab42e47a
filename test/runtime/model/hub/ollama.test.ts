/** Models of Ollama's, in folders laid out as it does. */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { beforeEach, expect, test } from "vitest"
import { ModelError } from "../../../../runtime/index.ts"
import {
  listOllama,
  locateOllama,
  readOllamaName,
  spellOllamaName,
} from "../../../../runtime/model/hub/ollama.ts"
import {
  linkManifest,
  manifestOf,
  writeLayer,
  writeManifest,
  writeOllamaModel,
} from "../../../support/modelfolders.ts"

const own = "registry.ollama.ai/library"
const weights = { type: "model", content: "GGUF and so on" }
const template = { type: "template", content: "{{ .Prompt }}" }
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ollama-"))
  return () => rmSync(folder, { recursive: true })
})
const locate = (text: string) => locateOllama(readOllamaName(text), [join(folder, "none"), folder])
const refusal = async (text: string) => {
  const error = await locate(text).then(String, (thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(ModelError)
  expect((error as Error).message).not.toContain("\n")
  return (error as Error).message
}

test.each([
  ["llama3.2", "registry.ollama.ai", "library", "llama3.2", "latest", "llama3.2:latest"],
  ["llama3.2:1b", "registry.ollama.ai", "library", "llama3.2", "1b", "llama3.2:1b"],
  ["ann/tiny:q4", "registry.ollama.ai", "ann", "tiny", "q4", "ann/tiny:q4"],
  ["hf.co/acme/tiny-GGUF:Q4_K_M", "hf.co", "acme", "tiny-GGUF", "Q4_K_M", "hf.co/acme/tiny-GGUF:Q4_K_M"],
  ["localhost:5000/a/b:c", "localhost:5000", "a", "b", "c", "localhost:5000/a/b:c"],
])("the name %s", (text, host, namespace, model, tag, spelt) => {
  expect(readOllamaName(text)).toEqual({ host, namespace, model, tag })
  expect(spellOllamaName(readOllamaName(text))).toBe(spelt)
})

test.each([
  "",
  ":",
  "..",
  "../x",
  "a/../b",
  "a:..",
  "a:b:c",
  "/etc/passwd",
  "a/b/c/d",
  "a b",
  "a\0b",
  "a\\b",
  "../../x:1",
])("%j is no name", (text) => {
  expect(() => readOllamaName(text)).toThrow(/is not the name of a model of Ollama/)
})

test("the blob of the model's layer, whatever layers are beside it", async () => {
  writeOllamaModel(folder, `${own}/tiny/1b`, [{ type: "license", content: "MIT" }, weights, template])
  expect(readFileSync(await locate("tiny:1b"), "utf8")).toBe(weights.content)
  expect(await refusal("tiny:2b")).toMatch(
    /^ollama:tiny:2b is not in .*: there is ollama:tiny:1b\. Run `ollama pull tiny:2b`, or set OLLAMA_MODELS$/,
  )
})

test("a newer server's folder, host, links and lists of runners", async () => {
  const layer = writeLayer(folder, weights)
  const gguf = manifestOf({}, [layer])
  linkManifest(folder, "ollama.com/library/tiny/1b", gguf)
  expect(await locate("tiny:1b")).toBe(await locate("ollama.com/library/tiny:1b"))
  const child = linkManifest(folder, "ollama.com/library/child/x", gguf)
  const tensors = manifestOf({}, [writeLayer(folder, { type: "tensor", content: "t" })])
  const manifests = [
    { ...tensors, runner: "mlx", format: "safetensors" },
    { mediaType: gguf.mediaType, digest: child, runner: "ollama", format: "gguf" },
  ]
  const mediaType = "application/vnd.ollama.manifest.list.v2+json"
  linkManifest(folder, "ollama.com/library/both/x", { schemaVersion: 2, mediaType, manifests })
  expect(await locate("both:x")).toBe(await locate("tiny:1b"))
  manifests.pop()
  linkManifest(folder, "ollama.com/library/mlx/x", { schemaVersion: 2, mediaType, manifests })
  expect(await refusal("mlx:x")).toContain("no manifest of its list is for a GGUF file")
})

test.each<[what: string, layers: Parameters<typeof writeOllamaModel>[2], message: string]>([
  ["a layer for each tensor", [{ type: "tensor", content: "t" }], "a layer for each tensor"],
  ["an adapter", [weights, { type: "adapter", content: "a" }], "it is an adapter on another model"],
  ["a model of a service", [template], "no weights on this machine"],
  ["two models", [weights, { ...weights, content: "another" }], "2 layers are GGUF files"],
  [
    "a digest that leads elsewhere",
    [{ ...weights, digest: "sha256:../../../etc/passwd" }],
    "not a SHA-256 digest",
  ],
  ["a digest that is short", [{ ...weights, digest: "sha256:abc" }], "not a SHA-256 digest"],
  ["a digest that is no text", [{ ...weights, digest: 5 }], "not a SHA-256 digest"],
  ["no digest", [{ ...weights, digest: undefined }], "not a SHA-256 digest"],
  [
    "a blob that is not there",
    [{ ...weights, digest: `sha256:${"0".repeat(64)}` }],
    "is missing or cannot be read",
  ],
  ["half a blob", [{ ...weights, size: 1e9 }], "has 14 of 1000000000 bytes. Run `ollama pull tiny:1b`"],
])("refused: %s", async (_, layers, message) => {
  writeOllamaModel(folder, `${own}/tiny/1b`, layers)
  expect(await refusal("tiny:1b")).toContain(message)
  const [{ name, refusal: why }] = await listOllama([folder])
  expect([name, why]).toEqual(["tiny:1b", expect.stringContaining(message)])
})

test.each([
  ["nothing", ""],
  ["no JSON", "{"],
  ["no object", "[]"],
  ["null", "null"],
])("refused: a manifest that is %s", async (_, manifest) => {
  writeManifest(join(folder, "manifests", own, "tiny/1b"), manifest)
  expect(await refusal("tiny:1b")).toMatch(
    /^ollama:tiny:1b: its manifest .* cannot be read: .*Pull the model again$/,
  )
})

test("layers that are none are passed over", async () => {
  const layers = [null, 5, "x", [], writeLayer(folder, weights)]
  writeManifest(join(folder, "manifests", own, "tiny/1b"), { layers })
  expect(readFileSync(await locate("tiny:1b"), "utf8")).toBe(weights.content)
  writeManifest(join(folder, "manifests", own, "odd/1b"), { layers: "model" })
  expect(await refusal("odd:1b")).toContain("no weights on this machine")
})

test("a list of all, whatever else lies there", async () => {
  expect(await listOllama([join(folder, "none")])).toEqual([])
  writeOllamaModel(folder, `${own}/tiny/1b`, [weights, template])
  writeOllamaModel(folder, "registry.ollama.ai/ann/tiny/latest", [weights])
  writeOllamaModel(folder, "hf.co/acme/tiny/Q4_0", [{ type: "tensor", content: "t" }])
  writeFileSync(join(folder, "manifests/.DS_Store"), "")
  mkdirSync(join(folder, "manifests", own, "empty"))
  mkdirSync(join(folder, "manifests", own, "deep/er/folder"), { recursive: true })
  symlinkSync("nowhere", join(folder, "manifests", own, "tiny/gone"))
  const found = await listOllama([folder])
  expect(found.map(({ name, bytes, refusal: why }) => [name, bytes, why === undefined])).toEqual([
    ["ann/tiny:latest", 14, true],
    ["hf.co/acme/tiny:Q4_0", 0, false],
    ["tiny:1b", 14, true],
  ])
})

test.skipIf(process.platform === "win32" || process.getuid?.() === 0)(
  "a folder that may not be read",
  async () => {
    writeOllamaModel(folder, `${own}/tiny/1b`, [weights])
    chmodSync(join(folder, "manifests"), 0)
    expect(await listOllama([folder])).toEqual([])
    expect(await refusal("tiny:1b")).toContain("is not in")
    chmodSync(join(folder, "manifests"), 0o700)
  },
)
