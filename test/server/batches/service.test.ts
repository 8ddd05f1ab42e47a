import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, test, vi } from "vitest"
import { DirectoryStore } from "../../../server/batches/directory.ts"
import { lockDirectory } from "../../../server/batches/directorylock.ts"
import { openBatches, type ServiceOptions } from "../../../server/batches/service.ts"
import { defaultBodyLimits, HeldBytes } from "../../../server/http/body.ts"

/** Files and batches when their directory fails. */

const folder = mkdtempSync(join(tmpdir(), "tokenrail-service-"))
afterAll(() => rmSync(folder, { recursive: true }))

const limits = { ...defaultBodyLimits }
const optionsOf = (store: DirectoryStore | string): ServiceOptions => ({
  ...{ store, apiKeys: [], answer: () => Response.json({}), width: 1, model: "m" },
  ...{ bodyLimits: limits, held: new HeldBytes(limits) },
})
const url = "/v1/chat/completions"
const here = { id: "", key: 0 }

function uploadOf(content: string): Request {
  const body = new FormData()
  body.set("purpose", "batch")
  body.set("file", new File([content], "in.jsonl"))
  return new Request("http://localhost/v1/files", { method: "POST", body })
}

test("an expired file that cannot be deleted fails neither the start nor an upload", async () => {
  const directory = join(folder, "expired")
  const store = await DirectoryStore.open(directory)
  const put = () =>
    store.putFile(new Blob(["{}"]).stream() as unknown as AsyncIterable<Uint8Array>, async () => ({
      ...{ owner: "", filename: "old.jsonl", purpose: "batch", expires_after_seconds: 0 },
    }))
  const [stuck, other] = [await put(), await put()]
  rmSync(join(directory, "files", `${stuck.id}.json`))
  mkdirSync(join(directory, "files", `${stuck.id}.json`))
  const messages: string[] = []
  const log = (message: string): number => messages.push(message)
  const { createFile } = await openBatches({ ...optionsOf(store), log })
  expect((await store.listFiles()).map(({ id }) => id)).toEqual([stuck.id])
  expect(await store.getFile(other.id)).toBeUndefined()
  expect((await createFile(uploadOf("{}"), here)).status).toBe(200)
  expect(messages).toHaveLength(2)
  expect(messages[0]).toContain(`file ${stuck.id} has expired and is not deleted`)
})

test("a process whose directory was taken writes nothing in it, and refuses requests with 503", async () => {
  const directory = mkdtempSync(join(folder, "taken-"))
  const control = new AbortController()
  await lockDirectory(directory, { beatMs: 10, lost: () => control.abort() })
  const store = await DirectoryStore.open(directory, control.signal)
  const waiting: (() => void)[] = []
  const answer = (): Promise<Response> =>
    new Promise((resolve) => waiting.push(() => resolve(Response.json({}))))
  const actions = await openBatches({ ...optionsOf(store), answer })
  const lines = ["a", "b", "c"].map((custom_id) => ({ custom_id, method: "POST", url, body: { model: "m" } }))
  const upload = uploadOf(lines.map((line) => JSON.stringify(line)).join("\n"))
  const { id: input_file_id } = await (await actions.createFile(upload, here)).json()
  const body = JSON.stringify({ input_file_id, endpoint: url, completion_window: "24h" })
  const headers = { "content-type": "application/json" }
  const create = () =>
    actions.createBatch(new Request("http://localhost/v1/batches", { method: "POST", headers, body }), here)
  await create()
  await vi.waitUntil(() => waiting.length === 1)
  waiting[0]?.()
  await vi.waitUntil(() => waiting.length === 2)
  // What the other process has written since must stay as it is.
  const contents = () =>
    ["files", "batches"].flatMap((name) =>
      readdirSync(join(directory, name)).map((file) => [
        file,
        readFileSync(join(directory, name, file), "utf8"),
      ]),
    )
  writeFileSync(join(directory, "lock"), JSON.stringify({ id: "other", machine: "elsewhere", beat: "1" }))
  await vi.waitUntil(() => control.signal.aborted)
  const before = contents()
  for (const answered of waiting) answered()
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(waiting).toHaveLength(2)
  expect(contents()).toEqual(before)
  await expect(create()).rejects.toMatchObject({ code: "overloaded" })
  await expect(actions.createFile(uploadOf("{}"), here)).rejects.toMatchObject({ code: "overloaded" })
  expect(contents()).toEqual(before)
})
