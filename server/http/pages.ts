/** Pages of lists, as OpenAI's API has them. */
import { invalid, Refusal } from "../errors.ts"
import { quote } from "./quote.ts"

interface PageQuery {
  after: string | null
  limit: number
  isAscending: boolean
}

/** Reads `after`, `limit` and `order` of a query. Throws `Refusal`. */
export function pageQuery(request: Request, bounds: { limit: number; most: number }): PageQuery {
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

/** Returns files or batches in the order in which they were made. */
export function oldestFirst<T extends { id: string; created_at: number }>(all: readonly T[]): T[] {
  return [...all].sort((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1))
}

/** Replies with a page of a list that is given with its oldest member first. Throws `Refusal`. */
export function pageOf<T extends { id: string }>(
  oldestFirst: readonly T[],
  { after, limit, isAscending }: PageQuery,
  described: (member: T) => object,
): Response {
  const members = isAscending ? oldestFirst : [...oldestFirst].reverse()
  const start = after === null ? 0 : members.findIndex(({ id }) => id === after) + 1
  if (after !== null && start === 0) {
    throw new Refusal("not_found", `there is no ${quote(after)} in this list`, { param: "after" })
  }
  const data = members.slice(start, start + limit)
  return Response.json({
    object: "list",
    data: data.map(described),
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: start + limit < members.length,
  })
}
