/**
 * The paths of files and batches. What they do needs a file system, and is loaded with the first
 * request (service.ts).
 */

/** What a route does, for the key with this number. */
type Act = (request: Request, call: { id: string; key: number }) => Promise<Response>

type BatchAction =
  | ("createFile" | "listFiles" | "getFile" | "getContent" | "deleteFile")
  | ("createBatch" | "listBatches" | "getBatch" | "cancelBatch")

export type BatchActions = Readonly<Record<BatchAction, Act>>

/** A route, whose operation has the name of its action. */
interface BatchRoute {
  operation: BatchAction
  answer: Act
}

/** Returns the routes, whose actions `open` resolves to. */
export function batchRoutes(open: () => Promise<BatchActions>): Record<string, Record<string, BatchRoute>> {
  const act = (operation: BatchAction): BatchRoute => ({
    operation,
    answer: async (request, call) => (await open())[operation](request, call),
  })
  return {
    "/v1/files": { POST: act("createFile"), GET: act("listFiles") },
    "/v1/files/:id": { GET: act("getFile"), DELETE: act("deleteFile") },
    "/v1/files/:id/content": { GET: act("getContent") },
    "/v1/batches": { POST: act("createBatch"), GET: act("listBatches") },
    "/v1/batches/:id": { GET: act("getBatch") },
    "/v1/batches/:id/cancel": { POST: act("cancelBatch") },
  }
}
