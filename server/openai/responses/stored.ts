/**
 * The routes of an existing response: `GET` and `DELETE /v1/responses/{id}`, `POST …/cancel`, `GET
 * …/input_items`.
 *
 * A running response is found too, with its output so far.
 */
import { invalid, Refusal, unsupported } from "../../errors.ts"
import { quote } from "../../http/quote.ts"
import { listedItem } from "./items.ts"
import { notFound, type ResponseObject, type ResponseScope } from "./store.ts"

/** Replies with the response. Throws `Refusal`. */
export function getResponse(request: Request, id: string, scope: ResponseScope): Response {
  if (new URL(request.url).searchParams.get("stream") === "true") {
    throw unsupported("stream", ": the events of a response are sent once", "Leave it out")
  }
  return Response.json(find(id, scope))
}

/** Deletes the stored response; a running one continues. Throws `Refusal`. */
export function deleteResponse(id: string, scope: ResponseScope): Response {
  if (!scope.delete(id)) throw notFound("response", id, "response_id")
  return Response.json({ id, object: "response", deleted: true })
}

/** Cancels a running response. Throws `Refusal` if it has already ended. */
export function cancelResponse(id: string, scope: ResponseScope): Response {
  scope.running(id)?.cancel()
  const response = find(id, scope)
  if (response.status === "cancelled") return Response.json(response)
  throw new Refusal("invalid_value", `the response ${quote(id)} has ended: it is ${response.status}`, {
    param: "response_id",
  })
}

/**
 * Replies with a page of the response's input items, the latest first unless the query says
 * otherwise. Throws `Refusal`.
 */
export function listInput(request: Request, id: string, scope: ResponseScope): Response {
  const { searchParams: query } = new URL(request.url)
  const order = query.get("order") ?? "desc"
  if (order !== "asc" && order !== "desc") {
    throw invalid("order", `is ${quote(order)}, it must be asc or desc`)
  }
  const limit = Number(query.get("limit") ?? 20)
  if (!Number.isInteger(limit) || limit < 1 || limit > 100) {
    throw invalid("limit", `is ${quote(query.get("limit"))}, it must be from 1 to 100`)
  }
  const stored = scope.get(id)
  if (stored === undefined) throw notFound("response", id, "response_id")
  const items = order === "asc" ? stored.input : [...stored.input].reverse()
  const after = query.get("after")
  const start = after === null ? 0 : items.findIndex((item) => item.id === after) + 1
  if (after !== null && start === 0) throw notFound("item", after, "after")
  const data = items.slice(start, start + limit)
  return Response.json({
    object: "list",
    data: data.map(listedItem),
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: start + limit < items.length,
  })
}

function find(id: string, scope: ResponseScope): ResponseObject {
  const found = scope.running(id)?.response ?? scope.get(id)?.response
  if (found === undefined) throw notFound("response", id, "response_id")
  return found
}
