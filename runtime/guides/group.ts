/**
 * The walks of one request, independent of their thread, with everything needed to recreate them in
 * another thread.
 */
import { createHash } from "node:crypto"
import { keyOf } from "../engine/compiled.ts"
import { Guide, type GuideHost } from "./guide.ts"
import type { Opening, WalkRequest } from "./opening.ts"
import type { GuidePlace } from "./protocol.ts"
import type { WalkThread } from "./thread.ts"
import type { Outlook, RunStep } from "./walk.ts"

export class ThreadedGuide extends Guide {
  readonly id: number
  readonly group: Group
  slot = -1
  isReleased = false
  /** Tokens that the walk has accepted. */
  readonly walked: number[] = []
  /** The token whose verdict has been requested and has not arrived. */
  token: number | undefined
  ahead = -1
  isLooking = false
  /** Whether `flush` still has to send its request. */
  isQueued = false

  constructor(host: GuideHost, id: number, group: Group) {
    super(host)
    this.id = id
    this.group = group
  }

  /** The position of the walk, for another thread. */
  get place(): GuidePlace {
    const { id, slot, walked, token, ahead, isLooking, outlook } = this
    const next = isLooking ? "look" : outlook && !outlook.isCut ? "seen" : "none"
    return { guide: id, slot, walked: [...walked], token, ahead, next }
  }

  /**
   * Records a forced run that the walk has accepted. After a token that ends the text nothing is
   * replayed.
   */
  walk(run: readonly RunStep[]): void {
    for (const { token, isExhausted } of run) if (!isExhausted) this.walked.push(token)
  }

  /** Records an outlook that came from `thread`, whose mask is in that thread's row. */
  see(outlook: Outlook, thread: WalkThread): void {
    this.isLooking = false
    this.outlook = outlook
    this.mask = thread.row(this.slot)
  }

  /**
   * Prepares the walk for another thread. The mask that the engine has seen is copied: an earlier
   * user of the slot may still write into the old thread's row.
   */
  detach(): void {
    if (this.outlook) this.mask = this.mask?.slice()
  }
}

/** Walks that share a constraint, and therefore a thread. */
export class Group {
  readonly id: number
  readonly request: WalkRequest
  /** Equal keys mean equal constraints. */
  readonly key: string | undefined
  guides: ThreadedGuide[] = []
  /** Undefined while it waits for a thread. */
  thread: WalkThread | undefined
  opening: Opening | undefined
  /** Whether its compilation is not quick. */
  isSlow = false
  /** performance.now() when it began to wait for a thread of its own. */
  delayedAt = 0
  /** Whether its first mask was found in time. */
  isProven = false
  /** Number of threads that ended while they worked for it. */
  deathCount = 0
  /** Whether it was sent to be either compiled quickly or refused. */
  isTrial = false
  readonly resolve: (opening: Opening) => void
  readonly reject: (error: Error) => void

  constructor(
    id: number,
    request: WalkRequest,
    { resolve, reject }: { resolve: (opening: Opening) => void; reject: (error: Error) => void },
  ) {
    this.id = id
    this.request = request
    this.key = request.constraint ? keyHash(request.constraint) : undefined
    this.resolve = resolve
    this.reject = reject
  }
}

/**
 * Returns the key; undefined for a constraint that JSON cannot represent: that one is compiled each
 * time.
 */
function keyHash({ input, policies }: NonNullable<WalkRequest["constraint"]>): string | undefined {
  if (!("kind" in input)) throw new Error("internal: a compiled constraint cannot change its thread")
  const hash = createHash("sha256")
  if (input.kind === "json" && typeof input.schema === "string") {
    // A schema's text may be long, so it is hashed without being quoted first.
    const key = keyOf({ ...input, schema: null }, policies)
    return key === undefined ? undefined : hash.update(`text ${key} `).update(input.schema).digest("base64")
  }
  const key = keyOf(input, policies)
  return key === undefined ? undefined : hash.update(`value ${key}`).digest("base64")
}
