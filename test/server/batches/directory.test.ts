import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type Engine, open } from "../../../runtime/index.ts"
import { DirectoryStore } from "../../../server/batches/directory.ts"
import { newId, nowSeconds, type StoredBatch } from "../../../server/batches/store.ts"
import { createApp, createFetch } from "../../../server/index.ts"
import { withSmallDisk } from "../../support/smalldisk.ts"

/** What an ended process, a full disk and a day leave in a directory. */

let engine: Engine
let folder: string
beforeAll(async () => {
  engine = await open({ device: "cpu", slots: 4 })
  folder = mkdtempSync(join(tmpdir(), "tokenrail-directory-"))
})
afterAll(async () => {
  await engine.close()
  rmSync(folder, { recursive: true })
})

const url = "/v1/chat/completions"
const ids = Array.from({ length: 20 }, (_, i) => `row-${String(i).padStart(2, "0")}`)
const body = { model: "any", max_tokens: 3, messages: [{ role: "user", content: "hi" }] }
const input = ids.map((custom_id) => `${JSON.stringify({ custom_id, method: "POST", url, body })}\n`).join("")

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text)
}

/** Stores the input and a batch over it. */
async function stored(store: DirectoryStore, fields: Partial<StoredBatch> = {}): Promise<StoredBatch> {
  const described = async () => ({ owner: "", filename: "in.jsonl", purpose: "batch" })
  const { id: input_file_id } = await store.putFile(bytesOf(input), described)
  const now = nowSeconds()
  const batch: StoredBatch = {
    ...{ owner: "", id: newId("batch_"), object: "batch", endpoint: url, errors: null, input_file_id },
    ...{ completion_window: "24h", status: "validating", output_file_id: null, error_file_id: null },
    ...{ created_at: now, in_progress_at: null, expires_at: now + 86_400, finalizing_at: null },
    ...{ completed_at: null, failed_at: null, expired_at: null, cancelling_at: null, cancelled_at: null },
    ...{ request_counts: { total: 0, completed: 0, failed: 0 }, metadata: null },
    ...fields,
  }
  await store.putBatch(batch)
  return batch
}

type Fetch = ReturnType<typeof createFetch>
const get = async (fetch: Fetch, path: string) => fetch(`http://localhost/v1${path}`)

async function ended(fetch: Fetch, { id }: StoredBatch): Promise<StoredBatch> {
  for (;;) {
    const batch: StoredBatch = await (await get(fetch, `/batches/${id}`)).json()
    if (["completed", "failed", "expired"].includes(batch.status)) return batch
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

async function rowsOf(fetch: Fetch, id: string | null) {
  const text = await (await get(fetch, `/files/${id}/content`)).text()
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))
}

test("a torn last line is cut off and run again; whole lines stay as they are", async () => {
  const dataDir = join(folder, "torn")
  const counts = { total: 20, completed: 0, failed: 0 }
  const batch = await stored(await DirectoryStore.open(dataDir), {
    status: "in_progress",
    request_counts: counts,
  })
  const output = join(dataDir, "files", `file-${batch.id.replace("batch_", "")}-output`)
  const whole = `{"id":"batch_req_x_8","custom_id":"${ids[7]}","response":{"status_code":200},"error":null}`
  writeFileSync(output, `${whole}\n`)
  appendFileSync(output, `{"id":"batch_req_x_9","custom_id":"${ids[8]}","response":{"status`)
  const fetch = createFetch(createApp(engine, { dataDir, anyModel: true }))
  const last = await ended(fetch, batch)
  expect(last).toMatchObject({ status: "completed", request_counts: { total: 20, completed: 20, failed: 0 } })
  const rows = await rowsOf(fetch, last.output_file_id)
  expect(rows.map(({ custom_id }) => custom_id).sort()).toEqual(ids)
  expect(readFileSync(output, "utf8").split("\n")[0]).toBe(whole)
  expect(last.error_file_id).toBeNull()
})

test("a batch that is too old expires: the error file has the lines that did not run", async () => {
  const dataDir = join(folder, "expired")
  const batch = await stored(await DirectoryStore.open(dataDir), { expires_at: nowSeconds() - 1 })
  const fetch = createFetch(createApp(engine, { dataDir, anyModel: true }))
  const last = await ended(fetch, batch)
  expect(last).toMatchObject({ status: "expired", output_file_id: null })
  const rows = await rowsOf(fetch, last.error_file_id)
  expect(rows.map(({ custom_id }) => custom_id)).toEqual(ids)
  expect(rows[0]).toMatchObject({ response: null, error: { code: "batch_expired" } })
})

test("uploads that an ended process left half done are removed, foreign files are not", async () => {
  const dataDir = join(folder, "strays")
  await DirectoryStore.open(dataDir)
  const own = newId("file-")
  const strays = [own, `${own}.json.new`, `${own}-output`, `${own}-errors.json.new`]
  const foreign = ["notes.txt", "notes.json", "file-half", ".keep"]
  for (const name of [...strays, ...foreign]) writeFileSync(join(dataDir, "files", name), "{")
  const store = await DirectoryStore.open(dataDir)
  expect(readdirSync(join(dataDir, "files")).sort()).toEqual(foreign.sort())
  expect(await store.listFiles()).toEqual([])
})

test("a full disk: uploads are 503, a batch waits, chat goes on", async ({ skip }) => {
  const disk = join(folder, "disk")
  const isMounted = await withSmallDisk(disk, 128 << 10, async () => {
    const store = await DirectoryStore.open(join(disk, "data"))
    const batch = await stored(store)
    const filler = join(disk, "filler")
    expect(() => writeFileSync(filler, Buffer.alloc(128 << 10))).toThrow("ENOSPC")
    const warnings: string[] = []
    const warn = (_: object, message: string) => warnings.push(message)
    const logger = { debug() {}, info() {}, warn, error() {} }
    const fetch = createFetch(createApp(engine, { batches: store, anyModel: true, logger }))
    while (!warnings.some((message) => message.includes("the disk is full")))
      await new Promise((resolve) => setTimeout(resolve, 10))
    const seen = await fetch(`http://localhost/v1/batches/${batch.id}`)
    expect((await seen.json()).errors.data).toMatchObject([{ code: "disk_full", line: null }])
    const form = new FormData()
    form.append("purpose", "batch")
    form.append("file", new Blob([input]), "in.jsonl")
    const upload = await fetch("http://localhost/v1/files", { method: "POST", body: form })
    expect([upload.status, (await upload.json()).error.code]).toEqual([503, "overloaded"])
    const chat = await fetch(`http://localhost${url}`, {
      ...{ method: "POST", headers: { "content-type": "application/json" } },
      body: JSON.stringify(body),
    })
    expect(chat.status).toBe(200)
    rmSync(filler)
    const last = await ended(fetch, batch)
    expect(last).toMatchObject({ status: "completed", request_counts: { completed: 20, failed: 0 } })
    expect(last.errors).toBeNull()
    const rows = await rowsOf(fetch, last.output_file_id)
    expect(rows.map(({ custom_id }) => custom_id).sort()).toEqual(ids)
  })
  if (!isMounted) skip("no right to mount a disk")
})
