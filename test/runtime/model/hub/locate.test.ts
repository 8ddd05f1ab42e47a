/** What a user calls a model, and where it is: paths, the hub's names with labels, folders of other programs. */
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest"
import { ModelError } from "../../../../runtime/index.ts"
import { readModelDirectory } from "../../../../runtime/model/folder.ts"
import { locateModel } from "../../../../runtime/model/hub/locate.ts"
import { readHubName, spellName } from "../../../../runtime/model/hub/name.ts"
import { readPlaces } from "../../../../runtime/model/hub/places.ts"
import { type HubFile, HubServer } from "../../../support/hubserver.ts"
import { writeOllamaModel } from "../../../support/modelfolders.ts"

let home: string
let env: Record<string, string>
const hub = new HubServer([])
const text = (path: string, content = path): HubFile => ({ path, content: Buffer.from(content) })

beforeAll(() => hub.start())
afterAll(() => hub.close())
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "home-"))
  env = { HF_ENDPOINT: hub.url, HF_HUB_CACHE: join(home, "hub") }
  hub.asked.length = 0
  return () => {
    rmSync(home, { recursive: true })
  }
})

/** Writes files, empty but for their names, below the home. */
function write(...paths: string[]): void {
  for (const path of paths) {
    mkdirSync(dirname(join(home, path)), { recursive: true })
    writeFileSync(join(home, path), path)
  }
}
const locate = (model: string, options: { offline?: boolean; dtype?: string } = {}) =>
  locateModel(model, { env, places: readPlaces(env, home, "linux"), ...options })
const refusal = async (...args: Parameters<typeof locate>) => {
  const error = await locate(...args).then(String, (thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(ModelError)
  expect((error as Error).message).not.toContain("\n")
  return (error as Error).message
}
const at = (path: string) => join(home, path)

test.each([
  ["acme/tiny", { name: "acme/tiny", revision: "main" }],
  ["acme/tiny:Q4_K_M", { name: "acme/tiny", revision: "main", label: "Q4_K_M" }],
  ["acme/tiny@v2:q4_0", { name: "acme/tiny", revision: "v2", label: "q4_0" }],
  ["acme/tiny:sub/x-Q4_0.gguf", { name: "acme/tiny", revision: "main", label: "sub/x-Q4_0.gguf" }],
])("a name of the hub: %s", (spelt, name) => {
  expect(readHubName(spelt)).toEqual(name)
  expect(spellName(name)).toBe(spelt)
})

test.each([
  ..."C:\\x.gguf C:/x.gguf D:x/y.gguf \\\\host\\share\\x.gguf ./x.gguf ../x/y.gguf a/b/c.gguf".split(" "),
  ..."x.gguf acme/tiny: acme/tiny:a:b acme/tiny:../x acme/tiny@:x ollama:x lmstudio:a/b".split(" "),
])("no name of the hub: %s", (spelt) => {
  expect(readHubName(spelt)).toBeNull()
})

describe("paths", () => {
  test("a file, any part of a split one, a blob without an ending", async () => {
    write("x/tiny-Q4_0.gguf", "x/big-00001-of-00002.gguf", "x/big-00002-of-00002.gguf", "x/sha256-abc")
    for (const [name, model] of [
      ["tiny-Q4_0.gguf", "tiny-Q4_0"],
      ["big-00002-of-00002.gguf", "big"],
      ["sha256-abc", "sha256-abc"],
    ])
      expect(await locate(at(`x/${name}`))).toEqual({
        path: at(`x/${name}`),
        id: undefined,
        source: { kind: "gguf", path: at(`x/${name}`), name: model },
      })
  })

  test("a folder is opened as it is where there is a graph, else built of what there is", async () => {
    write("both/onnx/model.onnx", "both/model.safetensors", "both/x-Q4_0.gguf")
    write("genai/genai_config.json", "genai/model.safetensors")
    write("tensors/model.safetensors", "tensors/x-Q4_0.gguf", "tensors/encoder.onnx")
    write("parts/model.safetensors.index.json", "parts/model-00001-of-00001.safetensors")
    write("gguf/x-Q8_0.gguf", "gguf/x-Q4_K_M.gguf", "gguf/mmproj-x-Q4_K_M.gguf", "none/README.md")
    const kinds: [string, string | undefined][] = []
    for (const folder of ["both", "genai", "tensors", "parts", "gguf", "none"])
      kinds.push([folder, (await locate(at(folder))).source?.kind])
    expect(kinds).toEqual([
      ["both", undefined],
      ["genai", undefined],
      ["tensors", "safetensors"],
      ["parts", "safetensors"],
      ["gguf", "gguf"],
      ["none", undefined],
    ])
    expect((await locate(at("gguf"))).source?.path).toBe(at("gguf/x-Q4_K_M.gguf"))
    expect((await locate(at("tensors"))).source?.name).toBe("tensors")
  })

  test("a folder of several models, and files that are parts of a model, are refused with the way out", async () => {
    write("several/a.gguf", "several/b.gguf", "m/model.onnx", "m/model.safetensors")
    expect(await refusal(at("several"))).toMatch(
      /there are 2 GGUF models.*Name one by its label after a colon, or by its path: a, b$/,
    )
    expect(await refusal(at("m/model.safetensors"))).toContain(`Name its folder, ${at("m")}`)
    expect(await refusal(at("m/model.onnx"))).toContain(`Name its folder, ${at("m")}`)
  })

  test("links are followed, and those that lead nowhere or round are not there", async () => {
    write("real/x-Q4_0.gguf")
    mkdirSync(at("links"))
    symlinkSync("../real/x-Q4_0.gguf", at("links/y.gguf"))
    symlinkSync("nowhere", at("links/z.gguf"))
    symlinkSync(".", at("links/round"))
    symlinkSync("round.gguf", at("links/round.gguf"))
    expect((await locate(at("links"))).source?.path).toBe(at("links/y.gguf"))
  })

  test("a name that is nothing is a path, on Windows too", async () => {
    for (const path of ["C:\\none\\x.gguf", "nowhere", at("none.gguf")])
      expect(await locate(path)).toEqual({ path, id: undefined, source: null })
  })
})

describe("the hub", () => {
  const gguf = ["tiny-Q4_K_M.gguf", "tiny-Q8_0.gguf", "mmproj-tiny-f16.gguf", "README.md"]
  const split = ["Q6_K/tiny-Q6_K-00001-of-00002.gguf", "Q6_K/tiny-Q6_K-00002-of-00002.gguf"]
  const files = (...paths: string[]) =>
    hub.files.splice(0, hub.files.length, ...paths.map((path) => text(path)))
  const snapshot = () => at(`hub/models--acme--tiny/snapshots/${"a".repeat(40)}`)

  test("one GGUF file by its label, and nothing else of the repository", async () => {
    files(...gguf, ...split)
    const { path, id, source } = await locate("acme/tiny:q8_0")
    expect([path, id]).toEqual([join(snapshot(), "tiny-Q8_0.gguf"), "acme/tiny:q8_0"])
    expect(source).toEqual({ kind: "gguf", path, name: "acme/tiny:q8_0" })
    expect(hub.asked).toEqual(["tiny-Q8_0.gguf"])
    expect((await locate("acme/tiny@main:Q6_K")).path).toBe(join(snapshot(), split[0]))
    expect(hub.asked.slice(1)).toEqual(split)
    expect((await locate("acme/tiny")).path).toBe(join(snapshot(), "tiny-Q4_K_M.gguf"))
  })

  test("offline it is what was brought", async () => {
    files(...gguf)
    expect(await refusal("acme/tiny:Q8_0", { offline: true })).toContain("is not in")
    await locate("acme/tiny:Q8_0")
    expect((await locate("acme/tiny:Q8_0", { offline: true })).path).toBe(join(snapshot(), "tiny-Q8_0.gguf"))
    expect((await locate("acme/tiny", { offline: true })).path).toBe(join(snapshot(), "tiny-Q8_0.gguf"))
    expect(await refusal("acme/tiny:Q4_K_M", { offline: true })).toContain("no GGUF model has Q4_K_M")
  })

  test("several or none are listed, and nothing is brought", async () => {
    files("a-Q5_0.gguf", "b-Q5_0.gguf")
    expect(await refusal("acme/tiny:Q5_0")).toBe(
      "acme/tiny: 2 GGUF models have Q5_0 in their names. Name one by its label after a colon, or by its path: a-Q5_0, b-Q5_0",
    )
    expect(await refusal("acme/tiny:Q4_0")).toContain("no GGUF model has Q4_0 in its name")
    files(split[0])
    expect(await refusal("acme/tiny")).toContain("only 1 of 2 parts of tiny-Q6_K exist")
    files("README.md")
    expect(await refusal("acme/tiny:Q4_0")).toContain("there is no GGUF model in it")
    expect(await refusal("acme/tiny")).toContain("no ONNX graph, no GGUF file and no model.safetensors")
    expect(hub.asked).toEqual([])
  })

  test("safetensors where there is no graph, with the parts that their index names", async () => {
    const config = ["config.json", "tokenizer.json", "tokenizer_config.json"]
    const parts = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"]
    files(...config, ...parts, ...gguf, "consolidated.safetensors", "pytorch_model.bin")
    const weight_map = { a: parts[0], b: parts[1], c: parts[0], d: "../../escaped", e: 5 }
    hub.files.push(text("model.safetensors.index.json", JSON.stringify({ weight_map })))
    const { path, source } = await locate("acme/tiny")
    expect([path, source]).toEqual([snapshot(), { kind: "safetensors", path, name: "acme/tiny" }])
    expect([...hub.asked].sort()).toEqual([...config, ...parts, "model.safetensors.index.json"].sort())
    files(...config, "model.safetensors")
    hub.revisions.set("v2", "b".repeat(40))
    hub.asked.length = 0
    expect((await locate("acme/tiny@v2")).source?.kind).toBe("safetensors")
    expect(hub.asked).toEqual(["model.safetensors"])
    // A graph is opened as it is, and what it is called is its type.
    files(...config, "model.safetensors", "onnx/model_q4.onnx")
    expect(await refusal("acme/tiny", { dtype: "q8" })).toContain("there is onnx/model_q4.onnx (dtype q4)")
    expect((await locate("acme/tiny", { dtype: "q4" })).source).toBeNull()
  })

  test("a type of weights that only graphs have is refused before anything is brought", async () => {
    files(...gguf)
    const message = "exists only for ONNX graphs, and this model is built from its weights as q8, q4, fp32"
    expect(await refusal("acme/tiny:Q8_0", { dtype: "q4f16" })).toBe(
      `acme/tiny:Q8_0: dtype q4f16 ${message}. Choose one of them, or leave it out`,
    )
    files("config.json", "tokenizer.json", "model.safetensors")
    expect(await refusal("acme/tiny", { dtype: "fp16" })).toContain(message)
    expect(hub.asked).toEqual([])
  })
})

describe("other programs", () => {
  test("Ollama's models by their names", async () => {
    const blob = { type: "model", content: "GGUF" }
    writeOllamaModel(at(".ollama/models"), "registry.ollama.ai/library/tiny/1b", [blob])
    const { path, id, source } = await locate("ollama:tiny:1b")
    expect([id, source]).toEqual(["tiny:1b", { kind: "gguf", path, name: "tiny:1b" }])
    expect(path).toMatch(/blobs.sha256-[0-9a-f]{64}$/)
    cpSync(at(".ollama/models"), at("elsewhere"), { recursive: true })
    rmSync(at(".ollama"), { recursive: true })
    expect(await refusal("ollama:tiny:1b")).toContain("/usr/share/ollama/.ollama/models: no model is there")
    env.OLLAMA_MODELS = at("elsewhere")
    expect((await locate("ollama:tiny:1b")).id).toBe("tiny:1b")
    expect(await refusal("ollama:../tiny")).toContain("is not the name of a model of Ollama")
  })

  test("LM Studio's models by their names and labels", async () => {
    write(
      ".lmstudio/models/acme/tiny-GGUF/tiny-Q4_K_M.gguf",
      ".lmstudio/models/acme/tiny-GGUF/tiny-Q8_0.gguf",
    )
    write(".cache/lm-studio/models/old/tiny/tiny.gguf", ".lmstudio/models/acme/mlx/model.safetensors")
    expect(await locate("lmstudio:acme/tiny-GGUF")).toEqual({
      path: at(".lmstudio/models/acme/tiny-GGUF/tiny-Q4_K_M.gguf"),
      id: "acme/tiny-GGUF",
      source: {
        kind: "gguf",
        path: at(".lmstudio/models/acme/tiny-GGUF/tiny-Q4_K_M.gguf"),
        name: "acme/tiny-GGUF",
      },
    })
    expect((await locate("lmstudio:acme/tiny-GGUF:q8_0")).source?.name).toBe("acme/tiny-GGUF:q8_0")
    expect((await locate("lmstudio:old/tiny")).path).toBe(at(".cache/lm-studio/models/old/tiny/tiny.gguf"))
    expect((await locate("lmstudio:acme/mlx")).source?.kind).toBe("safetensors")
    expect(await refusal("lmstudio:acme/other")).toMatch(
      /^lmstudio:acme\/other is not in .*: there is lmstudio:acme\/mlx, lmstudio:acme\/tiny-GGUF, lmstudio:old\/tiny\. /,
    )
    expect(await refusal("lmstudio:acme/tiny-GGUF:Q2_K")).toContain("Q4_K_M, Q8_0")
    for (const name of ["", "tiny", "../x", "a/../b", "a/b/c", "/etc/passwd", "a/b:"])
      expect(await refusal(`lmstudio:${name}`), name).toContain("is not the name of a model of LM Studio")
  })

  test("LM Studio's folder is where its pointer and its settings say", async () => {
    write("moved/models/acme/tiny/tiny.gguf", "far/acme/other/other.gguf")
    writeFileSync(at(".lmstudio-home-pointer"), `${at("moved")}\n`)
    writeFileSync(at("moved/settings.json"), JSON.stringify({ downloadsFolder: at("far") }))
    expect((await locate("lmstudio:acme/tiny")).path).toBe(at("moved/models/acme/tiny/tiny.gguf"))
    expect((await locate("lmstudio:acme/other")).path).toBe(at("far/acme/other/other.gguf"))
    const folders = [at("moved/models"), at(".lmstudio/models"), at(".cache/lm-studio/models")]
    for (const settings of ["", "null", "[]", '{"downloadsFolder": 5}']) {
      writeFileSync(at("moved/settings.json"), settings)
      expect(readPlaces({}, home).lmStudio).toEqual(folders)
    }
  })

  test.skipIf(process.platform === "win32" || process.getuid?.() === 0)(
    "what may not be read is not there",
    async () => {
      write(".lmstudio/models/acme/tiny/tiny.gguf")
      chmodSync(at(".lmstudio/models/acme"), 0)
      expect(await refusal("lmstudio:acme/tiny")).toContain("no model is there")
      chmodSync(at(".lmstudio/models/acme"), 0o700)
    },
  )
})

test("a folder that links to itself has each file once; one without a model says what may lie there", async () => {
  write("loops/sub/x.gguf")
  symlinkSync(".", at("loops/loop"))
  symlinkSync("sub", at("loops/again"))
  expect((await locate(at("loops"))).source?.path).toBe(at("loops/sub/x.gguf"))
  mkdirSync(at("empty"))
  await expect(readModelDirectory(at("empty"))).rejects.toThrow(
    `${at("empty")}/config.json: is missing; a model directory needs it, unless a GGUF file or model.safetensors lies there`,
  )
})

test.each<[NodeJS.Platform, Record<string, string>, string]>([
  ["linux", {}, "/home/ann/.cache/llama.cpp"],
  ["linux", { XDG_CACHE_HOME: "/big" }, "/big/llama.cpp"],
  ["darwin", {}, "/home/ann/Library/Caches/llama.cpp"],
  ["win32", { LOCALAPPDATA: "/local" }, "/local/llama.cpp"],
  ["linux", { LLAMA_CACHE: "/own" }, "/own"],
])("llama.cpp's files on %s with %j", (platform, said, folder) => {
  expect(readPlaces(said, "/home/ann", platform).llamaCpp).toBe(folder)
})
