/**
 * The responses that a server remembers: those that have ended, while there is room, and those that
 * are running.
 *
 * Each response belongs to the key of its request, and no other key finds it. If there is no room,
 * the key that holds most loses its least recently used response. The size of a response is
 * estimated from its texts and values. An item is found by its id as long as its response is
 * stored. Only ids that the server made can be looked up, since a client may send any other id
 * twice.
 */
import { LRUCache } from "lru-cache"
import { Refusal } from "../../errors.ts"
import { quote } from "../../http/quote.ts"
import type { Item } from "./items.ts"

export const maxResponses = 1_000
export const maxResponseBytes = 64 << 20

/** A response as it is on the wire. */
export interface ResponseObject {
  id: string
  output: readonly Item[]
  status: string
  [field: string]: unknown
}

/** A response that has ended. */
export interface StoredResponse {
  response: ResponseObject
  /** The input items of its own request. */
  input: readonly (Item & { id: string })[]
  /** Id of the response that it continues. */
  previousId: string | null
  /** Ids of the items that were made for it. */
  ownIds: readonly string[]
}

/** A running response. */
export interface RunningResponse {
  /** The response with the output so far. */
  readonly response: ResponseObject
  cancel(): void
}

/** The responses of one key. */
export interface ResponseScope {
  get(id: string): StoredResponse | undefined
  item(id: string): Item | undefined
  put(stored: StoredResponse): void
  /** Returns whether there was such a response. */
  delete(id: string): boolean
  running(id: string): RunningResponse | undefined
  /** Registers a running response. Returns the function that removes it. */
  begin(id: string, running: RunningResponse): () => void
}

/** The stored data of one key. */
interface Shelf {
  readonly stored: LRUCache<string, StoredResponse>
  /** Id of the response that holds an item, by the item's id. */
  readonly places: Map<string, string>
  readonly underWay: Map<string, RunningResponse>
}

export class ResponseStore {
  private readonly shelves = new Map<number, Shelf>()
  private readonly maxCount: number
  private readonly maxBytes: number

  /** `maxCount` bounds the responses of one key, `maxBytes` those of all keys together. */
  constructor({ maxCount = maxResponses, maxBytes = maxResponseBytes } = {}) {
    this.maxCount = maxCount
    this.maxBytes = maxBytes
  }

  /** Returns the responses of the key with this number. */
  of(key: number): ResponseScope {
    const { stored, places, underWay } = this.shelf(key)
    return {
      get: (id) => stored.get(id),
      item: (id) => {
        const found = stored.get(places.get(id) ?? "")
        return found && [...found.input, ...found.response.output].find((item) => item.id === id)
      },
      put: (each) => {
        const { id } = each.response
        stored.set(id, each)
        // A response that is larger than the whole room is not stored.
        if (!stored.has(id)) return
        for (const itemId of each.ownIds) places.set(itemId, id)
        this.makeRoom()
      },
      delete: (id) => stored.delete(id),
      running: (id) => underWay.get(id),
      begin: (id, running) => {
        underWay.set(id, running)
        return () => underWay.delete(id)
      },
    }
  }

  private shelf(key: number): Shelf {
    const known = this.shelves.get(key)
    if (known) return known
    const places = new Map<string, string>()
    const stored = new LRUCache<string, StoredResponse>({
      max: this.maxCount,
      maxSize: this.maxBytes,
      sizeCalculation: bytesOf,
      dispose: ({ ownIds }) => {
        for (const id of ownIds) places.delete(id)
      },
    })
    const shelf = { stored, places, underWay: new Map<string, RunningResponse>() }
    this.shelves.set(key, shelf)
    return shelf
  }

  /**
   * Evicts responses of the key that holds most, so that no key can evict responses of a key that
   * holds less.
   */
  private makeRoom(): void {
    const kept = [...this.shelves.values()].map(({ stored }) => stored)
    let total = kept.reduce((sum, { calculatedSize }) => sum + calculatedSize, 0)
    while (total > this.maxBytes) {
      const largest = kept.reduce((a, b) => (b.calculatedSize > a.calculatedSize ? b : a))
      const before = largest.calculatedSize
      largest.pop()
      total -= before - largest.calculatedSize
    }
  }
}

/** Returns whether a text has the form of a response's id. The response need not exist. */
export function isResponseId(id: string): boolean {
  return id.startsWith("resp_")
}

/**
 * Returns the estimated size: two bytes for each unit of text, and some for each value around it.
 */
function bytesOf(value: unknown): number {
  if (typeof value === "string") return 24 + 2 * value.length
  if (typeof value !== "object" || value === null) return 8
  const names = Array.isArray(value) ? [] : Object.keys(value)
  return [...names, ...Object.values(value)].reduce<number>((sum, each) => sum + bytesOf(each), 32)
}

/** Returns the refusal of an unknown id. */
export function notFound(what: string, id: string, param: string): Refusal {
  return new Refusal("not_found", `there is no ${what} ${quote(id)}`, {
    param,
    hint: `The last ${maxResponses} responses are kept, each for the key of its request, except those with store: false`,
  })
}
