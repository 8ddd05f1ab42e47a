import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import OpenAI, { toFile } from "openai"
import { afterAll, beforeAll, expect, test, vi } from "vitest"
import { type Engine, open } from "../../../runtime/index.ts"
import { readUpload } from "../../../server/batches/upload.ts"
import { type AppOptions, createApp, createFetch } from "../../../server/index.ts"

/** Files and batches by the unmodified client, in process. */

let engine: Engine
let directory: string
beforeAll(async () => {
  engine = await open({ device: "cpu", slots: 4 })
  directory = mkdtempSync(join(tmpdir(), "tokenrail-batches-"))
})
afterAll(async () => {
  await engine.close()
  rmSync(directory, { recursive: true })
})

const clientOf = (options: AppOptions = {}, apiKey = "none"): OpenAI =>
  new OpenAI({
    ...{ apiKey, maxRetries: 0, baseURL: "http://localhost/v1" },
    fetch: createFetch(createApp(engine, { anyModel: true, ...options })),
  })

const messages = [{ role: "user", content: "hi" }]
const chat = (custom_id: string, fields: object = {}) => ({
  ...{ custom_id, method: "POST", url: "/v1/chat/completions" },
  body: { model: "any", max_tokens: 4, messages, ...fields },
})
const jsonl = (lines: readonly (object | string)[]) =>
  toFile(
    Buffer.from(lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join("")),
    "in.jsonl",
  )

async function begin(
  client: OpenAI,
  lines: readonly (object | string)[],
  endpoint: string = "/v1/chat/completions",
): Promise<OpenAI.Batch> {
  const file = await client.files.create({ file: await jsonl(lines), purpose: "batch" })
  const input_file_id = file.id
  return client.batches.create({ input_file_id, endpoint: endpoint as never, completion_window: "24h" })
}

async function ended(client: OpenAI, { id }: OpenAI.Batch): Promise<OpenAI.Batch> {
  for (;;) {
    const batch = await client.batches.retrieve(id)
    if (["completed", "failed", "cancelled", "expired"].includes(batch.status)) return batch
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

interface Row {
  id: string
  custom_id: string
  response: { status_code: number; body: { object?: string } } | null
  error: object | null
}
async function rowsOf(client: OpenAI, id: string | null | undefined): Promise<Row[]> {
  if (!id) return []
  const text = await (await client.files.content(id)).text()
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))
}

test("a batch of chats: each line has its outcome, refusals are in the error file", async () => {
  const client = clientOf()
  const lines = [...Array(12).keys()].map((i) => chat(`row-${i}`, i === 5 ? { top_p: 7 } : {}))
  const begun = await begin(client, lines)
  expect(begun).toMatchObject({ object: "batch", status: "validating", errors: null })
  const batch = await ended(client, begun)
  expect(batch).toMatchObject({
    status: "completed",
    request_counts: { total: 12, completed: 11, failed: 1 },
  })
  const rows = await rowsOf(client, batch.output_file_id)
  const names = lines.map(({ custom_id }) => custom_id).filter((name) => name !== "row-5")
  expect(rows.map(({ custom_id }) => custom_id).sort()).toEqual(names.sort())
  for (const { response, error } of rows) {
    expect([response?.status_code, response?.body.object, error]).toEqual([200, "chat.completion", null])
  }
  const [refused, ...others] = await rowsOf(client, batch.error_file_id)
  expect(others).toEqual([])
  expect(refused).toMatchObject({
    custom_id: "row-5",
    response: { status_code: 400, body: { error: { param: "top_p" } } },
  })
})

test.each([
  ["/v1/completions", { prompt: "hi", max_tokens: 2 }, "text_completion"],
  ["/v1/responses", { input: "hi", max_output_tokens: 16 }, "response"],
  ["/v1/messages", { messages, max_tokens: 2 }, undefined],
  ["/v1/decisions", { input: "hi", questions: [{ type: "predicate", instructions: "x" }] }, undefined],
])("a batch over %s", async (url, body, object) => {
  const client = clientOf()
  const line = { custom_id: "a", method: "POST", url, body: { model: "any", ...body } }
  const batch = await ended(client, await begin(client, [line], url))
  expect(batch).toMatchObject({ status: "completed", request_counts: { completed: 1 } })
  const [row] = await rowsOf(client, batch.output_file_id)
  expect(row.response?.body.object).toBe(object)
})

test("broken lines fail a batch, each with its number", async () => {
  const client = clientOf()
  const batch = await ended(
    client,
    await begin(client, [
      chat("a"),
      "{ broken",
      chat("a"),
      { ...chat("b"), method: "GET" },
      "",
      { ...chat("c"), url: "/v1/completions" },
      { method: "POST", url: "/v1/chat/completions", body: {} },
      chat("d", { stream: true }),
    ]),
  )
  expect(batch.status).toBe("failed")
  expect(batch.errors?.data?.map(({ code, line, param }) => [line, code, param])).toEqual([
    [2, "invalid_json_line", null],
    [3, "duplicate_custom_id", "custom_id"],
    [4, "invalid_method", "method"],
    [6, "mismatched_url", "url"],
    [7, "missing_required_parameter", "custom_id"],
    [8, "invalid_request", "body.stream"],
  ])
  expect((await ended(client, await begin(client, [""]))).errors?.data?.[0].code).toBe("empty_file")
})

test("files: create, retrieve, list, content, delete", async () => {
  const client = clientOf()
  const names = ["a.jsonl", "b.txt", "c.jsonl"]
  const files = []
  for (const name of names) {
    const purpose = name.endsWith("txt") ? "user_data" : "batch"
    files.push(await client.files.create({ file: await toFile(Buffer.from(name), name), purpose }))
  }
  expect(files[0]).toMatchObject({ object: "file", bytes: 7, filename: "a.jsonl", purpose: "batch" })
  expect(await client.files.retrieve(files[1].id)).toEqual(files[1])
  expect(await (await client.files.content(files[1].id)).text()).toBe("b.txt")
  const listed = async (query: object) => {
    const found = []
    for await (const { filename } of client.files.list(query)) found.push(filename)
    return found
  }
  expect(await listed({})).toEqual([...names].reverse())
  expect(await listed({ order: "asc", limit: 1 })).toEqual(names)
  expect(await listed({ purpose: "batch" })).toEqual(["c.jsonl", "a.jsonl"])
  expect(await client.files.delete(files[1].id)).toEqual({ id: files[1].id, object: "file", deleted: true })
  await expect(client.files.retrieve(files[1].id)).rejects.toMatchObject({ status: 404, code: "not_found" })
})

test("uploads that are refused", async () => {
  const app = createApp(engine)
  const upload = async (parts: Record<string, string | Blob>) => {
    const body = new FormData()
    for (const [name, value] of Object.entries(parts)) body.append(name, value)
    const response = await app.request("/v1/files", { method: "POST", body })
    return [response.status, (await response.json()).error.param]
  }
  const file = new Blob(["{}"])
  expect(await upload({ file })).toEqual([400, "purpose"])
  expect(await upload({ purpose: "batch" })).toEqual([400, "file"])
  expect(await upload({ file, purpose: "else" })).toEqual([400, "purpose"])
  expect(await upload({ file, purpose: "batch", other: "x" })).toEqual([400, "other"])
  expect(await upload({ document: file, purpose: "batch" })).toEqual([400, "file"])
  const plain = await app.request("/v1/files", { method: "POST", body: "text" })
  expect([plain.status, (await plain.json()).error.param]).toEqual([400, "content-type"])
  const unbounded = await app.request("/v1/files", {
    ...{ method: "POST", headers: { "content-type": "multipart/form-data; xboundary=a" }, body: "text" },
  })
  expect(unbounded.status).toBe(400)
  const cut = await app.request("/v1/files", {
    ...{ method: "POST", headers: { "content-type": "multipart/form-data; boundary=x" } },
    body: '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nhalf',
  })
  expect(cut.status).toBe(400)
})

test("a file may have as many bytes as the limit says, and no more", async () => {
  const readAll = async (byteCount: number): Promise<number> => {
    const body = new FormData()
    body.append("file", new Blob(["x".repeat(byteCount)]))
    const { content, fields } = await readUpload(new Request("http://x", { method: "POST", body }), 4)
    let read = 0
    for await (const { length } of content) read += length
    await fields
    return read
  }
  expect(await readAll(4)).toBe(4)
  await expect(readAll(5)).rejects.toThrow("more than 4 bytes")
})

test("HEAD of a content opens no file; a file is deleted twice at once", async ({ skip }) => {
  if (process.platform !== "linux") skip("no /proc")
  const dataDir = join(directory, "head")
  const client = clientOf({ dataDir })
  const { id } = await client.files.create({ file: await jsonl([chat("a")]), purpose: "batch" })
  const app = createApp(engine, { dataDir })
  const path = `/v1/files/${id}/content`
  for (let i = 0; i < 10; i++) {
    const { status, headers } = await app.request(path, { method: "HEAD" })
    expect([status, headers.get("content-length")]).toEqual([
      200,
      String(JSON.stringify(chat("a")).length + 1),
    ])
  }
  await new Promise((resolve) => setTimeout(resolve, 50))
  const open = readdirSync("/proc/self/fd").filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).endsWith(id)
    } catch {
      return false
    }
  })
  expect(open).toEqual([])
  const deleting = [1, 2].map(() => app.request(`/v1/files/${id}`, { method: "DELETE" }))
  for (const { status } of await Promise.all(deleting)) expect([200, 404]).toContain(status)
})

test("batches that are refused", async () => {
  const client = clientOf()
  const { id } = await client.files.create({ file: await jsonl([chat("a")]), purpose: "user_data" })
  const asked = { input_file_id: id, endpoint: "/v1/chat/completions", completion_window: "24h" }
  const paramOf = (fields: object) =>
    client.batches.create({ ...asked, ...fields } as never).catch(({ param }) => param)
  expect(await paramOf({})).toBe("input_file_id")
  expect(await paramOf({ input_file_id: "file-none" })).toBe("input_file_id")
  expect(await paramOf({ endpoint: "/v1/embeddings" })).toBe("endpoint")
  expect(await paramOf({ completion_window: "1h" })).toBe("completion_window")
  expect(await paramOf({ metadata: { a: 1 } })).toBe("metadata.a")
  expect(await paramOf({ other: 1 })).toBe("other")
})

test("a cancelled batch keeps what was done, and says of each other line that it did not run", async () => {
  const client = clientOf()
  const lines = [...Array(40).keys()].map((i) => chat(`row-${i}`, { max_tokens: 200, ignore_eos: true }))
  const batch = await begin(client, lines)
  while ((await client.batches.retrieve(batch.id)).request_counts?.completed === 0)
    await new Promise((resolve) => setTimeout(resolve, 5))
  expect((await client.batches.cancel(batch.id)).status).toMatch(/^cancell(ing|ed)$/)
  const cancelled = await ended(client, batch)
  expect(cancelled.status).toBe("cancelled")
  const done = await rowsOf(client, cancelled.output_file_id)
  const unrun = await rowsOf(client, cancelled.error_file_id)
  expect(unrun[0]).toMatchObject({ response: null, error: { code: "batch_cancelled" } })
  const ids = [...done, ...unrun].map(({ custom_id }) => custom_id)
  expect(ids.sort()).toEqual(lines.map(({ custom_id }) => custom_id).sort())
  await expect(client.batches.cancel(batch.id)).resolves.toMatchObject({ status: "cancelled" })
  expect(engine.load()).toMatchObject({ running: 0, waiting: 0 })
})

test("files and batches belong to the key that made them", async () => {
  const options = { apiKeys: ["first", "second"] }
  const app = createApp(engine, { anyModel: true, ...options })
  const [first, second] = options.apiKeys.map(
    (apiKey) =>
      new OpenAI({ apiKey, maxRetries: 0, baseURL: "http://localhost/v1", fetch: createFetch(app) }),
  )
  const batch = await ended(first, await begin(first, [chat("a")]))
  expect(batch.request_counts?.completed).toBe(1)
  expect((await first.batches.list()).data.map(({ id }) => id)).toEqual([batch.id])
  expect((await second.batches.list()).data).toEqual([])
  expect((await second.files.list()).data).toEqual([])
  for (const id of [batch.input_file_id, batch.output_file_id!]) {
    await expect(second.files.content(id)).rejects.toMatchObject({ status: 404 })
    await expect(second.files.delete(id)).rejects.toMatchObject({ status: 404 })
  }
  await expect(second.batches.retrieve(batch.id)).rejects.toMatchObject({ status: 404 })
  await expect(second.batches.cancel(batch.id)).rejects.toMatchObject({ status: 404 })
})

test("another application continues in the same directory", async () => {
  const dataDir = join(directory, "continued")
  const first = clientOf({ dataDir })
  const batch = await ended(first, await begin(first, [chat("a"), chat("b")]))
  const second = clientOf({ dataDir })
  expect(await second.batches.retrieve(batch.id)).toEqual(batch)
  expect((await second.files.list()).data).toHaveLength(2)
  const names = readdirSync(join(dataDir, "files")).filter((name) => name.endsWith(".json"))
  const { owner } = JSON.parse(readFileSync(join(dataDir, "files", names[0]), "utf8"))
  expect(owner).toBe("")
})

test("a file that expires, and outcomes that do", async () => {
  const client = clientOf()
  const expires_after = { anchor: "created_at", seconds: 3_600 } as const
  const file = await client.files.create({ file: await jsonl([chat("a")]), purpose: "batch", expires_after })
  expect(file.expires_at).toBe(file.created_at + 3_600)
  const begun = await client.batches.create({
    ...{ input_file_id: file.id, endpoint: "/v1/chat/completions", completion_window: "24h" },
    output_expires_after: { anchor: "created_at", seconds: 7_200 },
  })
  const batch = await ended(client, begun)
  expect(batch.model).toBe(engine.model.id)
  const [row] = await rowsOf(client, batch.output_file_id)
  const { usage } = row.response!.body as unknown as OpenAI.ChatCompletion
  expect(batch.usage).toMatchObject({
    input_tokens: usage!.prompt_tokens,
    output_tokens: usage!.completion_tokens,
    total_tokens: usage!.total_tokens,
  })
  const output = await client.files.retrieve(batch.output_file_id!)
  expect(output.expires_at).toBe(output.created_at + 7_200)
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3_601_000 })
  try {
    await expect(client.files.retrieve(file.id)).rejects.toMatchObject({ status: 404 })
    await expect(client.files.content(file.id)).rejects.toMatchObject({ status: 404 })
    expect((await client.files.list()).data.map(({ id }) => id)).toEqual([output.id])
  } finally {
    vi.useRealTimers()
  }
})

test.each([
  [{ anchor: "last_active_at", seconds: 3_600 }, "output_expires_after.anchor"],
  [{ anchor: "created_at", seconds: 3_599 }, "output_expires_after.seconds"],
  [{ anchor: "created_at", seconds: 2_592_001 }, "output_expires_after.seconds"],
  [{ anchor: "created_at", seconds: "3600" }, "output_expires_after.seconds"],
  [{ anchor: "created_at", seconds: 3_600, more: 1 }, "output_expires_after"],
  [7, "output_expires_after"],
])("an expiry %j is refused by its field", async (output_expires_after, param) => {
  const client = clientOf()
  const body = { input_file_id: "x", endpoint: "/v1/chat/completions", completion_window: "24h" }
  await expect(client.post("/batches", { body: { ...body, output_expires_after } })).rejects.toMatchObject({
    status: 400,
    param,
  })
  if (typeof output_expires_after === "number") return
  const file = await jsonl([chat("a")])
  const form = { file, purpose: "batch", expires_after: output_expires_after } as never
  const field = param.replace("output_", "")
  if (output_expires_after.seconds === "3600") return
  await expect(client.files.create(form)).rejects.toMatchObject({
    status: 400,
    param: "more" in output_expires_after ? "expires_after[more]" : field,
  })
})
