/** All operations by their names, which the table of routes uses. */
import type { Operation } from "./operation.ts"
import { batchOperations } from "./operations/batches.ts"
import { chatOperations } from "./operations/chat.ts"
import { messageOperations } from "./operations/messages.ts"
import { ollamaOperations } from "./operations/ollama.ts"
import { responseOperations } from "./operations/responses.ts"
import { serverOperations } from "./operations/server.ts"
import { textOperations } from "./operations/texts.ts"

const all = {
  ...chatOperations,
  ...responseOperations,
  ...messageOperations,
  ...textOperations,
  ...batchOperations,
  ...ollamaOperations,
  ...serverOperations,
}

export type OperationName = keyof typeof all

export const operations: Readonly<Record<OperationName, Operation>> = all
