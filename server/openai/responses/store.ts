/**
 * The responses that a server remembers: those that have ended, as long as there is room, and those under way.
 *
 * Each belongs to the key that it was asked with, and no other key finds it. The least recently used ones go first; what one
 * costs is estimated by the texts and values that it holds. An item is found by its id as long as the response that it came
 * with is there: only ids that are made here count, since a client may send any others twice.
 */
import { LRUCache } from "lru-cache"
import { Refusal } from "../../errors.ts"
import { quote } from "../../http/quote.ts"
import type { Item } from "./items.ts"

export const maxResponses = 1_000
export const maxResponseBytes = 64 << 20

/** A response as the wire has it. */
export interface ResponseObject {
  id: string
  output: readonly Item[]
  status: string
  [field: string]: unknown
}

/** A response that has ended. */
export interface StoredResponse {
  response: ResponseObject
  /** What it was asked with, without what went before. */
  input: readonly (Item & { id: string })[]
  /** The response that it goes on from. */
  previousId: string | null
  /** Ids of the items that were made for it. */
  ownIds: readonly string[]
}

/** A response under way. */
export interface RunningResponse {
  /** As far as it has come. */
  readonly response: ResponseObject
  cancel(): void
}

/** Of one key. */
export interface ResponseScope {
  get(id: string): StoredResponse | undefined
  item(id: string): Item | undefined
  put(stored: StoredResponse): void
  /** Whether there was one. */
  delete(id: string): boolean
  running(id: string): RunningResponse | undefined
  /** Returns what ends it. */
  begin(id: string, running: RunningResponse): () => void
}

export class ResponseStore {
  private readonly stored: LRUCache<string, StoredResponse>
  /** Place of the response that an item came with, by the place of the item. */
  private readonly places = new Map<string, string>()
  private readonly underWay = new Map<string, RunningResponse>()

  constructor({ maxCount = maxResponses, maxBytes = maxResponseBytes } = {}) {
    this.stored = new LRUCache<string, StoredResponse>({
      max: maxCount,
      maxSize: maxBytes,
      sizeCalculation: bytesOf,
      dispose: ({ ownIds }, place) => {
        for (const id of ownIds) this.places.delete(placeOf(keyOf(place), id))
      },
    })
  }

  /** The responses of a key, by its number. */
  of(key: number): ResponseScope {
    const { stored, places, underWay } = this
    const place = (id: string) => placeOf(key, id)
    return {
      get: (id) => stored.get(place(id)),
      item: (id) => {
        const found = stored.get(places.get(place(id)) ?? "")
        return found && [...found.input, ...found.response.output].find((item) => item.id === id)
      },
      put: (each) => {
        const { id } = each.response
        stored.set(place(id), each)
        // One that is too large alone is not kept.
        if (!stored.has(place(id))) return
        for (const itemId of each.ownIds) places.set(place(itemId), place(id))
      },
      delete: (id) => stored.delete(place(id)),
      running: (id) => underWay.get(place(id)),
      begin: (id, running) => {
        underWay.set(place(id), running)
        return () => underWay.delete(place(id))
      },
    }
  }
}

function placeOf(key: number, id: string): string {
  return `${key} ${id}`
}

function keyOf(place: string): number {
  return Number(place.slice(0, place.indexOf(" ")))
}

/** Two bytes a unit of text, and some for each value around it. */
function bytesOf(value: unknown): number {
  if (typeof value === "string") return 24 + 2 * value.length
  if (typeof value !== "object" || value === null) return 8
  const names = Array.isArray(value) ? [] : Object.keys(value)
  return [...names, ...Object.values(value)].reduce<number>((sum, each) => sum + bytesOf(each), 32)
}

/** What is said where nothing is found. */
export function notFound(what: string, id: string, param: string): Refusal {
  return new Refusal("not_found", `there is no ${what} ${quote(id)}`, {
    param,
    hint: `The last ${maxResponses} responses are kept, each for the key that it was asked with, but those of store: false`,
  })
}
