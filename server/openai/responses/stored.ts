/**
 * The routes of an existing response: `GET` and `DELETE /v1/responses/{id}`, `POST …/cancel`, `GET
 * …/input_items`.
 *
 * A running response is found too, with its output so far.
 */
import { Refusal, unsupported } from "../../errors.ts"
import { pageOf, pageQuery } from "../../http/pages.ts"
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
  const query = pageQuery(request, { limit: 20, most: 100 })
  const stored = scope.get(id)
  if (stored === undefined) throw notFound("response", id, "response_id")
  return pageOf(stored.input, query, listedItem)
}

function find(id: string, scope: ResponseScope): ResponseObject {
  const found = scope.running(id)?.response ?? scope.get(id)?.response
  if (found === undefined) throw notFound("response", id, "response_id")
  return found
}
