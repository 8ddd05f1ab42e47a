/** Pages of the lists of files and batches. */
import { invalid, Refusal } from "../errors.ts"
import { quote } from "../http/quote.ts"

interface PageQuery {
  after: string | null
  limit: number
  isAscending: boolean
}

/** Reads `after`, `limit` and `order` of a query. Throws `Refusal`. */
export function queryOf(request: Request, bounds: { limit: number; most: number }): PageQuery {
  const { searchParams: query } = new URL(request.url)
  const limit = Number(query.get("limit") ?? bounds.limit)
  if (!Number.isInteger(limit) || limit < 1 || limit > bounds.most) {
    throw invalid("limit", `is ${quote(query.get("limit"))}, it must be from 1 to ${bounds.most}`)
  }
  const order = query.get("order") ?? "desc"
  if (order !== "asc" && order !== "desc") {
    throw invalid("order", `is ${quote(order)}, it must be asc or desc`)
  }
  return { after: query.get("after"), limit, isAscending: order === "asc" }
}

/** Replies with a page of a list in the order in which its members were made. Throws `Refusal`. */
export function listOf<T extends { id: string; created_at: number }>(
  all: readonly T[],
  { after, limit, isAscending }: PageQuery,
  described: (member: T) => object,
): Response {
  const sign = isAscending ? 1 : -1
  const compare = (a: T, b: T) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1)
  const sorted = [...all].sort((a, b) => sign * compare(a, b))
  const start = after === null ? 0 : sorted.findIndex(({ id }) => id === after) + 1
  if (after !== null && start === 0) {
    throw new Refusal("not_found", `there is no ${quote(after)} in this list`, { param: "after" })
  }
  const data = sorted.slice(start, start + limit)
  return Response.json({
    object: "list",
    data: data.map(described),
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: start + limit < sorted.length,
  })
}
