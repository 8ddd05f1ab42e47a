import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, test } from "vitest"
import { DirectoryStore } from "../../../server/batches/directory.ts"
import { openBatches, type ServiceOptions } from "../../../server/batches/service.ts"
import { defaultBodyLimits, HeldBytes } from "../../../server/http/body.ts"

/** Files and batches when their directory fails. */

const folder = mkdtempSync(join(tmpdir(), "tokenrail-service-"))
afterAll(() => rmSync(folder, { recursive: true }))

const limits = { ...defaultBodyLimits }
const optionsOf = (store: DirectoryStore | string): ServiceOptions => ({
  ...{ store, apiKeys: [], answer: () => Response.json({}), slots: () => 1, model: "m" },
  ...{ bodyLimits: limits, held: new HeldBytes(limits) },
})
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
