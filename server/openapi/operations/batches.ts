/** The description of /v1/files and /v1/batches. */
import { z } from "zod"
import { batchEndpoints } from "../../batches/lines.ts"
import { expirySeconds } from "../../batches/store.ts"
import { jsonReply, named, type Operation, ofBody } from "../operation.ts"
import { int, pageOf, pages, seconds, text } from "../replies.ts"

const file = named(
  "File",
  "A stored file.",
  z.object({
    id: text,
    object: z.literal("file"),
    bytes: int,
    created_at: seconds,
    filename: text,
    purpose: text,
    status: z.literal("processed"),
    expires_at: seconds.optional(),
  }),
)

const expiry = z.int().min(expirySeconds.least).max(expirySeconds.most)

const upload = z.object({
  file: z.string().meta({ format: "binary", description: "The content, with its name." }),
  purpose: z
    .enum(["assistants", "batch", "fine-tune", "vision", "user_data", "evals"])
    .describe("`batch` for the input of a batch; files of other purposes are only kept."),
  "expires_after[anchor]": z.literal("created_at").optional().describe("With `expires_after[seconds]`."),
  "expires_after[seconds]": expiry.optional().describe("Seconds after which the file is deleted."),
})

const request = named(
  "BatchRequest",
  "A batch of the requests of a file.",
  z.object({
    input_file_id: text.describe("A file of purpose batch; see docs/batches.md for its lines."),
    endpoint: z.enum(batchEndpoints).describe("The path that all lines call."),
    completion_window: z.literal("24h").describe("The time after which the batch expires."),
    output_expires_after: z
      .strictObject({ anchor: z.literal("created_at"), seconds: expiry })
      .nullish()
      .describe("When the files of the outcomes are deleted."),
    metadata: z.record(text, text).nullish().describe("Repeated in the batch."),
  }),
)

const statuses = [
  ...(["validating", "failed", "in_progress", "finalizing", "completed", "expired"] as const),
  ...(["cancelling", "cancelled"] as const),
]

const time = seconds.nullable()

const batch = named(
  "Batch",
  "A batch and its state.",
  z.object({
    id: text,
    object: z.literal("batch"),
    endpoint: text,
    model: text.optional(),
    errors: z
      .object({
        object: z.literal("list"),
        data: z.array(z.object({ code: text, message: text, param: text.nullable(), line: int.nullable() })),
      })
      .nullable(),
    input_file_id: text,
    completion_window: text,
    status: z.enum(statuses),
    output_file_id: text.nullable(),
    error_file_id: text.nullable(),
    created_at: seconds,
    in_progress_at: time,
    expires_at: seconds,
    finalizing_at: time,
    completed_at: time,
    failed_at: time,
    expired_at: time,
    cancelling_at: time,
    cancelled_at: time,
    request_counts: z.object({ total: int, completed: int, failed: int }),
    usage: z
      .object({
        input_tokens: int,
        input_tokens_details: z.object({ cached_tokens: int }),
        output_tokens: int,
        output_tokens_details: z.object({ reasoning_tokens: int }),
        total_tokens: int,
      })
      .optional(),
    metadata: z.record(text, text).nullable(),
  }),
)

const fileId = { description: "Id of the file.", schema: text }
const batchId = { description: "Id of the batch.", schema: text }

export const batchOperations = {
  createFile: {
    tag: "Batches",
    summary: "Stores a file",
    body: { type: "multipart/form-data", schema: upload, examples: {} },
    reply: jsonReply("The file.", file),
    refusals: ofBody,
  },
  listFiles: {
    tag: "Batches",
    summary: "Lists the files",
    query: { ...pages(10_000), purpose: { description: "Only files of this purpose.", schema: text } },
    reply: jsonReply("A page of files.", pageOf(file)),
    refusals: [400, 404],
  },
  getFile: {
    tag: "Batches",
    summary: "Describes a file",
    id: fileId,
    reply: jsonReply("The file.", file),
    refusals: [404],
  },
  getContent: {
    tag: "Batches",
    summary: "Returns the bytes of a file",
    id: fileId,
    reply: {
      description: "The bytes.",
      content: { "application/octet-stream": z.string().meta({ format: "binary" }) },
    },
    refusals: [404],
  },
  deleteFile: {
    tag: "Batches",
    summary: "Deletes a file",
    id: fileId,
    reply: jsonReply(
      "It is deleted.",
      z.object({ id: text, object: z.literal("file"), deleted: z.literal(true) }),
    ),
    refusals: [400, 404],
  },
  createBatch: {
    tag: "Batches",
    summary: "Begins a batch",
    body: {
      schema: request,
      examples: {
        unknown: {
          summary: "The input must have been stored before",
          value: {
            input_file_id: "file-unknown",
            endpoint: "/v1/chat/completions",
            completion_window: "24h",
          },
          status: 404,
        },
      },
    },
    reply: jsonReply("The batch.", batch),
    refusals: ofBody,
  },
  listBatches: {
    tag: "Batches",
    summary: "Lists the batches",
    query: pages(100),
    reply: jsonReply("A page of batches.", pageOf(batch)),
    refusals: [400, 404],
  },
  getBatch: {
    tag: "Batches",
    summary: "Returns a batch with its counts of this moment",
    id: batchId,
    reply: jsonReply("The batch.", batch),
    refusals: [404],
  },
  cancelBatch: {
    tag: "Batches",
    summary: "Ends a batch",
    id: batchId,
    reply: jsonReply("The batch, which is `cancelling` or `cancelled`.", batch),
    refusals: [400, 404],
  },
} satisfies Record<string, Operation>
