/** Models by their names: from a server that speaks the hub's API, through cuts and refusals, into the cache of its tools. */
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { hostname, tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { ModelError, open } from "../../../../runtime/index.ts"
import { HubCache } from "../../../../runtime/model/hub/cache.ts"
import { download } from "../../../../runtime/model/hub/download.ts"
import { type HubSettings, readHubName, readHubSettings } from "../../../../runtime/model/hub/name.ts"
import { type ModelProgress, type PullOptions, pullModel } from "../../../../runtime/model/hub/pull.ts"
import { type HubFile, HubServer } from "../../../support/hubserver.ts"
import { writeTinyModel } from "../../../support/onnx.ts"

const commit = "a".repeat(40)
const read = (path: string): HubFile => ({ path, content: readFileSync(`runtime/embedded/${path}`) })
const text = (path: string, content: string): HubFile => ({ path, content: Buffer.from(content) })
const configs = ["config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json"].map(read)
const templates = [text("chat_template.json", "{}"), text("additional_chat_templates/tool_use.jinja", "T")]
const graph = read("onnx/model.onnx")
const large = { path: "onnx/model_q4.onnx_data", content: new Uint8Array(3_000_000).map((_, i) => i * 7) }

let hub: HubServer
let settings: HubSettings
let lines: string[]
const name = { name: "acme/tiny", revision: "main" }

beforeEach(async () => {
  hub = new HubServer([
    ...configs,
    ...templates,
    graph,
    text("onnx/model_q4.onnx", "a graph"),
    large,
    text("onnx/model_q4.onnx_data_1", "more"),
    text("README.md", "# Tiny"),
    text("model.safetensors", "weights of another tool"),
  ])
  await hub.start()
  lines = []
  const cache = mkdtempSync(join(tmpdir(), "hub-"))
  settings = { cache, endpoint: hub.url, token: undefined, isOffline: false }
})
afterEach(() => hub.close())

const pull = (options: PullOptions = {}, rest: Partial<HubSettings> = {}, of = name) =>
  pullModel(of, { ...settings, ...rest }, { log: (line) => lines.push(line), ...options })
const refusal = async (...args: Parameters<typeof pull>) => {
  const error = await pull(...args).then(
    () => null,
    (error: unknown) => error,
  )
  expect(error).toBeInstanceOf(ModelError)
  return (error as ModelError).message
}

test("brings what the type of weights needs, and nothing twice", async () => {
  const path = await pull()
  expect(path).toBe(join(settings.cache, "models--acme--tiny", "snapshots", commit))
  expect([...hub.asked].sort()).toEqual(
    [...[...configs, ...templates].map(({ path }) => path), "onnx/model.onnx"].sort(),
  )
  expect(readFileSync(join(path, "onnx/model.onnx")).equals(graph.content)).toBe(true)
  if (process.platform !== "win32")
    expect(readlinkSync(join(path, "onnx/model.onnx"))).toMatch(/^\.\.\/\.\.\/\.\.\/blobs\/[0-9a-f]{64}$/)
  expect(readFileSync(join(settings.cache, "models--acme--tiny/refs/main"), "utf8")).toBe(commit)
  hub.asked.length = 0
  expect(await pull()).toBe(path)
  expect(hub.asked).toEqual([])
  await pull({ dtype: "q4" })
  expect([...hub.asked].sort()).toEqual([
    "onnx/model_q4.onnx",
    "onnx/model_q4.onnx_data",
    "onnx/model_q4.onnx_data_1",
  ])
  const [model] = await new HubCache(settings.cache).models()
  expect([model.name, model.commit, model.revisions, model.path]).toEqual([
    "acme/tiny",
    commit,
    ["main"],
    path,
  ])
})

test("of a model that sees the decoder and its embeddings come, and no more", async () => {
  const filesOf = (part: string, dtype: string) =>
    ["", "_data", "_data_1"].map((data) => `onnx/${part}${dtype}.onnx${data}`)
  const there = ["decoder_model_merged", "embed_tokens", "vision_encoder"].flatMap((part) =>
    ["", "_q4"].flatMap((dtype) => filesOf(part, dtype)),
  )
  there.push("onnx/decoder_model_merged_fp16.onnx")
  hub.files.splice(0, hub.files.length, ...configs, ...there.map((path) => text(path, `it is ${path}`)))
  const brought = async (dtype: string) => {
    hub.asked.length = 0
    await pull({ dtype })
    return hub.asked.filter((path) => path.startsWith("onnx/")).sort()
  }
  expect(await brought("q4")).toEqual([
    ...filesOf("decoder_model_merged", "_q4"),
    ...filesOf("embed_tokens", "_q4"),
  ])
  // Where there are no embeddings of the same type of weights, others do.
  expect(await brought("fp16")).toEqual([
    "onnx/decoder_model_merged_fp16.onnx",
    ...filesOf("embed_tokens", ""),
  ])
})

test("another commit shares the files that have not changed", async () => {
  await pull()
  hub.revisions.set("v2", "b".repeat(40))
  hub.asked.length = 0
  const path = await pull({}, {}, { ...name, revision: "v2" })
  expect(hub.asked).toEqual([])
  expect(readFileSync(join(path, "onnx/model.onnx")).equals(graph.content)).toBe(true)
})

test("goes on where a connection was cut", async () => {
  hub.cut = { after: 1_000_000, times: 2 }
  const seen: ModelProgress[] = []
  const path = await pull({ dtype: "q4", onProgress: (progress) => seen.push(progress) })
  const [first, ...others] = hub.asked.filter((each) => /_data( |$)/.test(each))
  expect(first).toBe(large.path)
  expect(others.length).toBe(2)
  for (const other of others) expect(other).toMatch(/ bytes=[1-9]\d+-$/)
  expect(readFileSync(join(path, large.path)).equals(large.content)).toBe(true)
  const { doneBytes, allBytes } = seen.at(-1)!
  expect(doneBytes).toBe(allBytes)
  for (let i = 1; i < seen.length; i++)
    expect(seen[i].doneBytes).toBeGreaterThanOrEqual(seen[i - 1].doneBytes)
})

test("goes on where an earlier run was aborted", async () => {
  const controller = new AbortController()
  const onProgress = ({ file, doneBytes }: ModelProgress) => {
    if (file === large.path && doneBytes > 1_000_000) controller.abort()
  }
  hub.cut = { after: 1_500_000, times: 1 }
  await expect(pull({ dtype: "q4", onProgress, signal: controller.signal })).rejects.toThrow(/abort/)
  hub.cut = null
  hub.asked.length = 0
  const path = await pull({ dtype: "q4" })
  expect(hub.asked).toContainEqual(expect.stringMatching(/_data bytes=[1-9]\d+-$/))
  expect(readFileSync(join(path, large.path)).equals(large.content)).toBe(true)
})

test("begins again where the server gives no parts", async () => {
  hub.ignoresRanges = true
  hub.cut = { after: 1_000_000, times: 2 }
  const path = await pull({ dtype: "q4" })
  expect(readFileSync(join(path, large.path)).equals(large.content)).toBe(true)
})

test("waits for a server that is busy, as long as it asks for", async () => {
  hub.busy = { status: 503, times: 2 }
  await pull()
  hub.asked.length = 0
  hub.busy = { status: 429, times: 1_000, retryAfter: "1" }
  setTimeout(() => (hub.busy = null), 800)
  await pull({ dtype: "q4" })
  expect(hub.asked.filter((path) => path === "onnx/model_q4.onnx").length).toBe(2)
  hub.files.push(text("onnx/model_fp16.onnx", "half"))
  hub.busy = { status: 500, times: 1_000 }
  expect(await refusal({ dtype: "fp16" })).toMatch(/the connection was lost 5 times in a row \(status 500\)/)
})

test("a connection that stands still is lost, and gone on with", async () => {
  hub.stall = { after: 1_000_000, times: 2 }
  const hex = createHash("sha256").update(large.content).digest("hex")
  const path = join(settings.cache, "blob")
  const url = `${hub.url}/acme/tiny/resolve/${commit}/${large.path}`
  const digest = { kind: "sha256" as const, hex }
  await download({ url, bytes: large.content.length, digest }, path, { stallMs: 300 })
  expect(readFileSync(path).equals(large.content)).toBe(true)
  expect(hub.asked.length).toBe(3)
  hub.stall = { after: 0, times: 1_000 }
  const again = download({ url, bytes: large.content.length, digest }, `${path}2`, { stallMs: 50 })
  await expect(again).rejects.toThrow("lost 5 times in a row (no data for 0.05 s)")
})

test("two that ask for one model bring each file once", async () => {
  hub.cut = { after: 1_000_000, times: 2 }
  const paths = await Promise.all([pull({ dtype: "q4" }), pull({ dtype: "q4" }), pull({ dtype: "q4" })])
  expect(new Set(paths).size).toBe(1)
  expect(hub.asked.filter((path) => path.startsWith(large.path) && !path.includes("data_1")).length).toBe(3)
  expect(readFileSync(join(paths[0], large.path)).equals(large.content)).toBe(true)
  const blobs = readdirSync(join(settings.cache, "models--acme--tiny/blobs"))
  expect(blobs.filter((blob) => !/^[0-9a-f]+$/.test(blob))).toEqual([])
})

test("a lock whose holder is gone holds nobody up", async () => {
  const blobs = join(settings.cache, "models--acme--tiny/blobs")
  mkdirSync(blobs, { recursive: true })
  const hex = createHash("sha256").update(graph.content).digest("hex")
  const gone = spawnSync(process.execPath, ["-e", ""]).pid
  writeFileSync(join(blobs, `${hex}.lock`), `${hostname()} ${gone}`)
  await pull()
  expect(existsSync(join(blobs, `${hex}.lock`))).toBe(false)
})

test("a connection that is always cut is told, and what came is kept", async () => {
  hub.cut = { after: 0, times: 1_000 }
  expect(await refusal()).toMatch(/the connection was lost 5 times in a row .*Start it again|start it again/)
})

test("what is not what the hub promised is thrown away", async () => {
  hub.spoilt = "onnx/model_q4.onnx_data"
  expect(await refusal({ dtype: "q4" })).toContain("does not have the digest that the hub lists")
  hub.spoilt = null
  const path = await pull({ dtype: "q4" })
  expect(readFileSync(join(path, large.path)).equals(large.content)).toBe(true)
})

describe("refusals", () => {
  test("a wrong name, a wrong revision, no rights, each with its way out", async () => {
    expect(await refusal({}, {}, { name: "acme/none", revision: "main" })).toMatch(
      /^acme\/none: the hub has no such model.*\(status 401\).*HF_TOKEN/,
    )
    expect(await refusal({}, {}, { ...name, revision: "v9" })).toMatch(
      /^acme\/tiny@v9: .*no revision v9.*404/,
    )
    hub.needsToken = "hf_right"
    hub.strangers.add("hf_stranger")
    expect(await refusal()).toContain("status 401")
    expect(await refusal({}, { token: "hf_stranger" })).toMatch(/403.*Accept its terms at http.*acme\/tiny/)
    await pull({}, { token: "hf_right" })
    expect(hub.hasLeaked).toBe(false)
  })

  test("a type of weights that there is not names those that there are", async () => {
    expect(await refusal({ dtype: "fp16" })).toBe(
      "acme/tiny: dtype fp16 needs onnx/model_fp16.onnx, and there is onnx/model.onnx (dtype fp32), onnx/model_q4.onnx (dtype q4). Choose its dtype",
    )
    hub.files.splice(0, hub.files.length, ...configs, text("onnx/encoder_model.onnx", "x"))
    expect(await refusal()).toContain("there is onnx/encoder_model.onnx, which is no decoder")
    hub.files.splice(0, hub.files.length, ...configs)
    expect(await refusal()).toContain("there is no ONNX graph")
    hub.files.splice(0, hub.files.length, graph, configs[0])
    expect(await refusal()).toContain("has no tokenizer.json")
  })

  test.skipIf(process.platform !== "linux")("a full disk", async () => {
    const digest = "0".repeat(64)
    const cache = new HubCache(settings.cache)
    expect(cache.blob(name.name, digest)).toContain(digest)
    const blobs = join(settings.cache, "models--acme--tiny/blobs")
    mkdirSync(blobs, { recursive: true })
    // Every byte that is written there is refused for want of room.
    await pull().catch(() => {})
    const sha = createHash("sha256").update(large.content).digest("hex")
    symlinkSync("/dev/full", join(blobs, `${sha}.incomplete`))
    const message = await refusal({ dtype: "q4" })
    expect(message).toMatch(
      /model_q4.onnx_data cannot be written: ENOSPC.* MB left, .* Make room, or set HF_HUB_CACHE/,
    )
  })

  test("a place where nothing can be written", async () => {
    const folder = join(settings.cache, "models--acme--tiny")
    mkdirSync(folder, { recursive: true })
    for (const [part, what] of [
      ["blobs", "config.json"],
      ["snapshots", "config.json"],
      ["refs", "what main is"],
    ]) {
      writeFileSync(join(folder, part), "in the way")
      // What is in the way may be met as one or the other.
      expect(await refusal(), part).toMatch(
        new RegExp(
          `^acme/tiny: (${what}|tokenizer.json) cannot be written: E(NOTDIR|EXIST).* See to it, or set HF_HUB_CACHE`,
        ),
      )
      rmSync(join(folder, part))
    }
    await pull()
  })

  test("files whose names lead elsewhere are not brought", async () => {
    hub.files.push(text("onnx/model.onnx_data/../../../../../escaped", "x"), text("../config.json", "{}"))
    await pull()
    expect(hub.asked.filter((path) => path.includes(".."))).toEqual([])
  })

  test.each([
    "additional_chat_templates/../../../../escaped.jinja",
    "additional_chat_templates//etc/escaped.jinja",
    "additional_chat_templates/./escaped.jinja",
    "additional_chat_templates/..\\..\\escaped.jinja",
    "additional_chat_templates/C:escaped.jinja",
    "additional_chat_templates/nul.jinja",
    "additional_chat_templates/COM1.escaped.jinja",
    "additional_chat_templates/a\0escaped.jinja",
    "additional_chat_templates/\x1b[2Jescaped.jinja",
    "additional_chat_templates/dots./escaped.jinja",
    `additional_chat_templates/${"e".repeat(250)}.jinja`,
    "/additional_chat_templates/escaped.jinja",
  ])("no file is written by the name %j", async (path) => {
    hub.files.push(text(path, "x"))
    await pull()
    const listed = readdirSync(settings.cache, { recursive: true, encoding: "utf8" })
    expect(listed.filter((each) => /escaped|nul|eee/.test(each))).toEqual([])
    expect(existsSync(join(settings.cache, "../escaped.jinja"))).toBe(false)
    expect(hub.asked).not.toContain(path)
    expect(lines.join()).toContain("names that are not safe relative paths, and are left out")
  })

  test("pages that have no end, that come again, or that are elsewhere", async () => {
    const elsewhere = new HubServer(hub.files)
    await elsewhere.start()
    hub.needsToken = "hf_right"
    const token = "hf_right"
    hub.next = (cursor) => (cursor < hub.files.length ? `${elsewhere.url}/steal?cursor=${cursor}` : null)
    await pull({}, { token })
    expect([elsewhere.requests, hub.hasLeaked]).toEqual([0, false])
    await elsewhere.close()
    const fresh = () => mkdtempSync(join(tmpdir(), "hub-"))
    hub.pages = 0
    hub.next = (cursor) => `?cursor=${cursor}`
    expect(await refusal({}, { token, cache: fresh() })).toMatch(/list of files has more than 200 pages/)
    expect(hub.pages).toBe(200)
    hub.next = () => "?cursor=3"
    expect(await refusal({}, { token, cache: fresh() })).toMatch(/list of files has the same page again/)
  })

  test("an answer that has no end", async () => {
    hub.padding = 2 ** 32
    expect(await refusal()).toMatch(/the hub's answer has more than 16 MB/)
    expect(hub.padded).toBeLessThan(2 ** 27)
  })

  test.each<[lie: object, path: string, message: RegExp]>([
    [{ size: 2 ** 52 }, graph.path, /^acme\/tiny takes \d+ MB, and .* has \d+ MB left\. Make room/],
    [{ size: -1 }, graph.path, /the hub does not list the size of onnx\/model\.onnx/],
    [{ size: 1e300 }, graph.path, /the hub does not list the size of onnx\/model\.onnx/],
    [
      { oid: "../../escaped", lfs: null },
      graph.path,
      /the hub does not list the digest of onnx\/model\.onnx/,
    ],
    [{ lfs: { oid: "a" } }, graph.path, /the hub does not list the digest of onnx\/model\.onnx/],
    [
      { size: 2 ** 30 },
      "tokenizer.json",
      /tokenizer\.json has 1073741824 bytes, above the limit of 134217728/,
    ],
    [{ size: 2 ** 30 }, "config.json", /config\.json has 1073741824 bytes, above the limit of 16777216/],
  ])("a list that says %j of a file", async (lie, path, message) => {
    hub.lies = { [path]: lie }
    expect(await refusal()).toMatch(message)
  })

  test("a hundred templates", async () => {
    for (let i = 0; i < 100; i++) hub.files.push(text(`additional_chat_templates/t${i}.jinja`, `${i}`))
    expect(await refusal()).toMatch(/has 101 chat templates, above the limit of 64/)
  })
})

test.each(["weights.bin", "deep/weights.bin", "model.onnx.data"])(
  "weights by another name come, and the model opens: %s",
  async (file) => {
    const model = writeTinyModel(mkdtempSync(join(tmpdir(), "tiny-")), {
      dataFiles: [file, "model.onnx_data"],
      contextLength: 20_000,
    })
    const of = (path: string): HubFile => ({ path, content: readFileSync(join(model, path)) })
    const files = ["config.json", "tokenizer.json", "tokenizer_config.json", "onnx/model.onnx"]
    hub.files.splice(0, hub.files.length, ...[...files, `onnx/${file}`, "onnx/model.onnx_data"].map(of))
    hub.files.push(text("onnx/other.bin", "of another model"))
    vi.stubEnv("HF_ENDPOINT", hub.url)
    vi.stubEnv("HF_HUB_CACHE", settings.cache)
    const tokens: (readonly number[])[] = []
    for (const each of [model, "acme/tiny"]) {
      const engine = await open({ model: each, device: "cpu", isolation: "none", threads: 1 })
      const options = { temperature: 0, maxTokens: 8, ignoreEos: true }
      tokens.push((await engine.generate([1, 2, 3], options)).tokens)
      await engine.close()
    }
    vi.unstubAllEnvs()
    expect(tokens[1]).toEqual(tokens[0])
    expect(hub.asked).not.toContain("onnx/other.bin")
    // The cache has the files as all its tools have them.
    const names = readdirSync(join(settings.cache, "models--acme--tiny/snapshots", commit, "onnx"))
    expect(names.sort()).toEqual([...new Set([file.split("/")[0], "model.onnx", "model.onnx_data"])].sort())
  },
)

test("offline and away: the copy that is there, or a refusal that says how to get one", async () => {
  expect(await refusal({}, { isOffline: true })).toMatch(
    /^acme\/tiny is not in .*Run `tokenrail pull acme\/tiny`/,
  )
  const path = await pull()
  hub.asked.length = 0
  expect(await pull({}, { isOffline: true })).toBe(path)
  expect(await pull({}, { isOffline: true }, { ...name, revision: commit })).toBe(path)
  const away = { endpoint: "http://127.0.0.1:9" }
  expect(await pull({}, away)).toBe(path)
  expect(lines.at(-1)).toContain("http://127.0.0.1:9 cannot be reached")
  expect(await refusal({}, away, { name: "acme/other", revision: "main" })).toMatch(
    /^acme\/other: no such directory, and http:\/\/127.0.0.1:9 cannot be reached/,
  )
  expect(hub.asked).toEqual([])
})

test("an engine opens a model by its name, which is its name on the wire", async () => {
  vi.stubEnv("HF_ENDPOINT", hub.url)
  vi.stubEnv("HF_HUB_CACHE", settings.cache)
  const engine = await open({ model: "acme/tiny@main", device: "cpu", isolation: "none" })
  expect(engine.model.id).toBe("acme/tiny")
  expect((await engine.generate("hi", { choice: ["yes"] })).text).toBe("yes")
  await engine.close()
  vi.unstubAllEnvs()
})

test("names and settings", () => {
  expect(readHubName("a/b")).toEqual({ name: "a/b", revision: "main" })
  expect(readHubName("a/b@refs/pr/1")).toEqual({ name: "a/b", revision: "refs/pr/1" })
  for (const wrong of ["a", "./a/b", "/a/b", "a/b/c", "a/..", "a/b@", "a/b@../x", "~/a", "a\\b", "a/b c"])
    expect(readHubName(wrong), wrong).toBeNull()
  const home = mkdtempSync(join(tmpdir(), "home-"))
  writeFileSync(join(home, "token"), "hf_stored\n")
  expect(readHubSettings({ HF_HOME: home, HF_ENDPOINT: "http://mirror/" })).toEqual({
    cache: join(home, "hub"),
    endpoint: "http://mirror",
    token: "hf_stored",
    isOffline: false,
  })
  expect(readHubSettings({ HF_TOKEN: "hf_x", HF_HUB_OFFLINE: "1", HF_HUB_CACHE: "/c" })).toMatchObject({
    cache: "/c",
    token: "hf_x",
    isOffline: true,
  })
})
