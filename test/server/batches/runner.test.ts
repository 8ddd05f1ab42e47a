import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, test, vi } from "vitest"
import { Gate, runLines } from "../../../server/batches/answering.ts"
import { DirectoryStore } from "../../../server/batches/directory.ts"
import { type BatchLine, readInput } from "../../../server/batches/lines.ts"
import { BatchRunner } from "../../../server/batches/runner.ts"
import {
  isOpenBatch,
  newId,
  nowSeconds,
  type Outcome,
  type StoredBatch,
} from "../../../server/batches/store.ts"

/** How batches end when something outside their lines goes wrong. */

const folder = mkdtempSync(join(tmpdir(), "tokenrail-runner-"))
afterAll(() => rmSync(folder, { recursive: true }))

const url = "/v1/chat/completions"
const lineOf = (custom_id: string): string =>
  `${JSON.stringify({ custom_id, method: "POST", url, body: { model: "any" } })}\n`
const bytesOf = (text: string) => new Blob([text]).stream() as unknown as AsyncIterable<Uint8Array>

async function stored(store: DirectoryStore, input: string, fields: Partial<StoredBatch> = {}) {
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

async function ended(store: DirectoryStore, id: string): Promise<StoredBatch> {
  for (;;) {
    const batch = (await store.getBatch(id))!
    if (!isOpenBatch(batch)) return batch
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

async function rowsOf(store: DirectoryStore, id: string | null) {
  const chunks: Uint8Array[] = []
  for await (const chunk of store.readFile(id!)) chunks.push(chunk)
  const lines = Buffer.concat(chunks).toString().trimEnd().split("\n")
  return lines.map((line) => JSON.parse(line))
}

const runnerOf = (store: DirectoryStore, answer: (request: Request) => Response | Promise<Response>) =>
  new BatchRunner({ store, answer, width: 1, keyOf: () => null })

test("a batch that fails keeps the outcomes so far", async () => {
  const store = await DirectoryStore.open(join(folder, "fails"))
  const { id } = await stored(store, lineOf("a") + lineOf("b"))
  let calls = 0
  const answer = () => {
    if (++calls === 2) throw new Error("lost")
    return Response.json({ fine: true })
  }
  await runnerOf(store, answer).wake()
  const batch = await ended(store, id)
  expect(batch).toMatchObject({ status: "failed", request_counts: { total: 2, completed: 1, failed: 0 } })
  expect((await rowsOf(store, batch.output_file_id)).map(({ custom_id }) => custom_id)).toEqual(["a"])
  expect(batch.error_file_id).toBeNull()
})

test.each(["no JSON", "no\nJSON", ""])("a reply that is not JSON fails its line only: %j", async (text) => {
  const store = await DirectoryStore.open(mkdtempSync(join(folder, "reply-")))
  const { id } = await stored(store, lineOf("a") + lineOf("b"))
  let calls = 0
  await runnerOf(store, () => (++calls === 1 ? new Response(text) : Response.json({}))).wake()
  const batch = await ended(store, id)
  expect(batch).toMatchObject({ status: "completed", request_counts: { completed: 1, failed: 1 } })
  const [row] = await rowsOf(store, batch.error_file_id)
  expect(row).toMatchObject({ custom_id: "a", response: null, error: { code: "server_error" } })
})

test("a batch that is cancelled before it begins ends at once, broken lines or not", async () => {
  const store = await DirectoryStore.open(join(folder, "cancelled"))
  const runner = runnerOf(store, () => Response.json({}))
  const { id } = await stored(store, "{ broken")
  expect(await runner.cancel(id)).toMatchObject({ status: "cancelled", cancelled_at: expect.any(Number) })
  // A process that ended before it checked the input may have left this.
  const left = await stored(store, "{ broken", { status: "cancelling", cancelling_at: 1 })
  await runner.wake()
  expect(await ended(store, left.id)).toMatchObject({ status: "cancelled", cancelling_at: 1 })
})

test("one outcome a line, also within one append", async () => {
  const store = await DirectoryStore.open(join(folder, "twice"))
  const outcomes = await store.openOutcomes(await stored(store, lineOf("a")))
  const outcome = (isFailed: boolean): Outcome => ({ customId: "a", isFailed, text: "{}" })
  await outcomes.append([outcome(false), outcome(false), outcome(true)])
  expect(outcomes.counts).toEqual({ completed: 1, failed: 0 })
  await outcomes.close()
})

test("when the input cannot be read on, the lines under way end first", async () => {
  async function* broken(): AsyncGenerator<BatchLine> {
    yield* readInput(bytesOf(lineOf("a")), url)
    throw new Error("broken input")
  }
  const recorded: string[] = []
  const running = runLines(broken(), {
    ...{ gate: new Gate(1), signal: new AbortController().signal, claim: () => true },
    answer: async ({ customId }) => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      return { customId, isFailed: false, text: "{}" }
    },
    record: async ({ customId }) => void recorded.push(customId),
  })
  await expect(running).rejects.toThrow("broken input")
  expect(recorded).toEqual(["a"])
})

test("thirty lines at once cause no warning", async () => {
  const warn = vi.fn()
  process.on("warning", warn)
  const store = await DirectoryStore.open(join(folder, "many"))
  let most = 0
  let underWay = 0
  const answer = async (): Promise<Response> => {
    most = Math.max(most, ++underWay)
    await new Promise((resolve) => setTimeout(resolve, 20))
    underWay--
    return Response.json({})
  }
  const { id } = await stored(store, Array.from({ length: 60 }, (_, i) => lineOf(`${i}`)).join(""))
  await new BatchRunner({ store, answer, width: 30, keyOf: () => null }).wake()
  expect((await ended(store, id)).request_counts.completed).toBe(60)
  process.off("warning", warn)
  expect([most, warn.mock.calls]).toEqual([30, []])
})

test("while a line waits for its next try no further line begins, and its place is free for others", async () => {
  const gate = new Gate(1)
  const begun: string[] = []
  let tries = 0
  const all = runLines(readInput(bytesOf(lineOf("a") + lineOf("b") + lineOf("c")), url), {
    ...{ gate, signal: new AbortController().signal, claim: () => true },
    answer: async ({ customId }) => {
      begun.push(customId)
      if (customId === "a" && ++tries < 3) return { retryMs: 30 }
      return { customId, isFailed: false, text: "{}" }
    },
    record: async () => {},
  })
  while (begun.length === 0) await new Promise((resolve) => setTimeout(resolve, 1))
  // Another batch gets the place at once.
  await gate.enter()
  expect(begun).toEqual(["a"])
  gate.leave()
  await all
  expect(begun).toEqual(["a", "a", "a", "b", "c"])
})

test("a batch whose engine is closed stops, stays as it is, and is continued by the next runner", async () => {
  const store = await DirectoryStore.open(join(folder, "closed"))
  const { id } = await stored(store, lineOf("a") + lineOf("b"))
  let calls = 0
  const answer = () => (++calls === 1 ? Response.json({}) : new Response("{}", { status: 503 }))
  const messages: string[] = []
  const log = (message: string) => messages.push(message)
  const options = { store, width: 1, keyOf: () => null, log }
  await new BatchRunner({ ...options, answer, isOver: () => true }).wake()
  while (messages.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  await new Promise((resolve) => setTimeout(resolve, 30))
  expect(calls).toBe(2)
  expect(await store.getBatch(id)).toMatchObject({ status: "in_progress" })
  await new BatchRunner({ ...options, answer: () => Response.json({}), isOver: () => false }).wake()
  expect(await ended(store, id)).toMatchObject({ status: "completed", request_counts: { completed: 2 } })
})

test("the usage is the sum over all outcomes, also over those of an earlier process, whatever their API", async () => {
  const folderOf = join(folder, "usage")
  const store = await DirectoryStore.open(folderOf)
  const { id } = await stored(store, lineOf("a") + lineOf("b") + lineOf("c"))
  const bodies = [
    {
      usage: {
        ...{ prompt_tokens: 10, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 3 } },
        completion_tokens_details: { reasoning_tokens: 2 },
      },
    },
    {
      usage: {
        ...{ input_tokens: 7, input_tokens_details: { cached_tokens: 1 }, output_tokens: 5 },
        output_tokens_details: { reasoning_tokens: 1 },
      },
    },
    { usage: { input_tokens: 2, cache_read_input_tokens: 6, output_tokens: 1 } },
  ]
  const options = { width: 1, keyOf: () => null }
  let calls = 0
  const failing = () => (calls === 2 ? new Response("", { status: 503 }) : Response.json(bodies[calls++]))
  await new BatchRunner({ ...options, store, answer: failing, isOver: () => true }).wake()
  const output = join(folderOf, "files", `file-${id.replace("batch_", "")}-output`)
  const lines = () => (existsSync(output) ? readFileSync(output, "utf8").split("\n").length : 0)
  while (lines() < 3) await new Promise((resolve) => setTimeout(resolve, 5))
  const later = await DirectoryStore.open(folderOf)
  await new BatchRunner({ ...options, store: later, answer: () => Response.json(bodies[2]) }).wake()
  expect((await ended(later, id)).usage).toEqual({
    ...{ input_tokens: 25, input_tokens_details: { cached_tokens: 10 } },
    ...{ output_tokens: 10, output_tokens_details: { reasoning_tokens: 3 }, total_tokens: 35 },
  })
})
