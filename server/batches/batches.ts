/** The routes of batches: `/v1/batches`, as OpenAI's API has them. */
import { invalid, missing, Refusal, unsupported } from "../errors.ts"
import { type BodyLimits, type HeldBytes, parseBody, readBytes } from "../http/body.ts"
import { oldestFirst, pageOf, pageQuery } from "../http/pages.ts"
import { quote } from "../http/quote.ts"
import { readMetadata } from "../openai/responses/fields.ts"
import { findFile, readExpiry } from "./files.ts"
import { batchEndpoints } from "./lines.ts"
import type { BatchRunner } from "./runner.ts"
import { type BatchStore, newId, nowSeconds, type StoredBatch, windowSeconds } from "./store.ts"

/** What the routes of batches work with. */
export interface BatchContext {
  store: BatchStore
  runner: BatchRunner
  bodyLimits: BodyLimits
  held: HeldBytes
  /** The name of the model. */
  model: string
}

/** Creates a batch and begins it. Rejects with `Refusal`. */
export async function createBatch(
  { store, runner, bodyLimits, held, model }: BatchContext,
  request: Request,
  owner: string,
): Promise<Response> {
  const bytes = await readBytes(request, bodyLimits.maxBytes, held)
  let value: Record<string, unknown>
  try {
    value = parseBody(bytes, bodyLimits).value
  } finally {
    held.give(bytes.length)
  }
  const { input_file_id: inputId, endpoint, completion_window: window, metadata, ...others } = value
  const { output_expires_after: outputExpiry, ...rest } = others
  for (const name of ["input_file_id", "endpoint", "completion_window"]) {
    if (value[name] === undefined) throw missing(name)
  }
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) throw unsupported(unknown, "is not offered for batches", "Leave it out")
  if (typeof inputId !== "string") throw invalid("input_file_id", "must be a string")
  if (!batchEndpoints.some((known) => known === endpoint)) {
    throw invalid("endpoint", `is ${quote(endpoint)}, it must be ${batchEndpoints.join(" or ")}`)
  }
  if (window !== "24h") throw invalid("completion_window", `is ${quote(window)}, it must be "24h"`)
  const fields = {
    endpoint: String(endpoint),
    input_file_id: inputId,
    metadata: metadata == null ? null : readMetadata(metadata),
    output_expires_seconds: readExpiry(outputExpiry, "output_expires_after"),
    model,
  }
  const { purpose } = await findFile(store, inputId, owner, "input_file_id")
  if (purpose !== "batch") {
    throw invalid("input_file_id", `is a file of purpose ${quote(purpose)}`, "Upload it with purpose batch")
  }
  const batch = newBatch(owner, fields)
  await store.putBatch(batch)
  void runner.wake()
  return Response.json(described(batch))
}

export async function listBatches(
  { store, runner }: BatchContext,
  request: Request,
  owner: string,
): Promise<Response> {
  const query = pageQuery(request, { limit: 20, most: 100 })
  const own = (await store.listBatches()).filter((batch) => batch.owner === owner)
  return pageOf(oldestFirst(own), query, (batch) => described(runner.present(batch)))
}

export async function getBatch(
  { store, runner }: BatchContext,
  id: string,
  owner: string,
): Promise<Response> {
  return Response.json(described(runner.present(await findBatch(store, id, owner))))
}

/** Cancels a batch. Rejects with `Refusal` if it is too late. */
export async function cancelBatch(
  { store, runner }: BatchContext,
  id: string,
  owner: string,
): Promise<Response> {
  await findBatch(store, id, owner)
  const batch = await runner.cancel(id)
  if (batch.status === "cancelling" || batch.status === "cancelled") return Response.json(described(batch))
  throw invalid("batch_id", `${quote(id)} is ${batch.status}: it can no longer be cancelled`)
}

async function findBatch(store: BatchStore, id: string, owner: string): Promise<StoredBatch> {
  const batch = await store.getBatch(id)
  if (batch?.owner === owner) return batch
  throw new Refusal("not_found", `there is no batch ${quote(id)}`, { param: "batch_id" })
}

function newBatch(
  owner: string,
  fields: Pick<StoredBatch, "endpoint" | "input_file_id" | "metadata" | "output_expires_seconds" | "model">,
): StoredBatch {
  const created = nowSeconds()
  return {
    ...{ owner, id: newId("batch_"), object: "batch", ...fields, errors: null },
    ...{ completion_window: "24h", status: "validating", output_file_id: null, error_file_id: null },
    ...{ created_at: created, expires_at: created + windowSeconds, in_progress_at: null },
    ...{ finalizing_at: null, completed_at: null, failed_at: null, expired_at: null },
    ...{ cancelling_at: null, cancelled_at: null },
    request_counts: { total: 0, completed: 0, failed: 0 },
  }
}

function described({ owner: _, output_expires_seconds: __, ...batch }: StoredBatch): object {
  return batch
}
