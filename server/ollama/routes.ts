/**
 * The paths of Ollama's API that this server does not have, because it serves one model that is
 * loaded at its start.
 */
import { Refusal } from "../errors.ts"

const pull = "Start the server with --model, or run tokenrail pull"
const embed = "The model writes text: use a server with a model for embeddings"

const absent: Readonly<Record<string, readonly [method: string, hint: string]>> = {
  "/api/pull": ["POST", pull],
  "/api/create": ["POST", pull],
  "/api/copy": ["POST", "Start the server with --alias"],
  "/api/push": ["POST", "The server publishes no models"],
  "/api/delete": ["DELETE", "Stop the server, and delete the files"],
  "/api/embed": ["POST", embed],
  "/api/embeddings": ["POST", embed],
  "/api/blobs/:digest": ["POST", pull],
}

/** Returns the routes, each of which throws `Refusal` (404). They have no description. */
export function absentRoutes(): Record<string, Record<string, { operation: null; answer: () => never }>> {
  const refuse = (path: string, hint: string) => ({
    operation: null,
    answer: (): never => {
      throw new Refusal("unknown_url", `this server has no ${path}`, { hint })
    },
  })
  return Object.fromEntries(
    Object.entries(absent).map(([path, [method, hint]]) => [path, { [method]: refuse(path, hint) }]),
  )
}
