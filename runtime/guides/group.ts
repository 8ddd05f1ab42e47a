/**
 * The walks of one request, in whichever thread they are, with everything needed to recreate them
 * in another thread.
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
  /** Asked, and not answered. */
  token: number | undefined
  ahead = -1
  isLooking = false
  /** To be sent by `flush`. */
  isQueued = false

  constructor(host: GuideHost, id: number, group: Group) {
    super(host)
    this.id = id
    this.group = group
  }

  /** Where it is, for another thread. */
  get place(): GuidePlace {
    const { id, slot, walked, token, ahead, isLooking, outlook } = this
    const next = isLooking ? "look" : outlook && !outlook.isCut ? "seen" : "none"
    return { guide: id, slot, walked: [...walked], token, ahead, next }
  }

  /** It has gone past a forced run. Behind a token that ends the text nothing is replayed. */
  walk(run: readonly RunStep[]): void {
    for (const { token, isExhausted } of run) if (!isExhausted) this.walked.push(token)
  }

  /** An outlook has come from `thread`, whose mask lies in that thread's row. */
  see(outlook: Outlook, thread: WalkThread): void {
    this.isLooking = false
    this.outlook = outlook
    this.mask = thread.row(this.slot)
  }

  /**
   * The walk goes to another thread. The mask that the engine has seen is copied: in that thread's
   * row an earlier user of the slot may still be written.
   */
  detach(): void {
    if (this.outlook) this.mask = this.mask?.slice()
  }
}

/** Walks that share a constraint, and so a thread. */
export class Group {
  readonly id: number
  readonly request: WalkRequest
  /** Equal keys mean equal constraints. */
  readonly key: string | undefined
  guides: ThreadedGuide[] = []
  /** Undefined: it waits for one. */
  thread: WalkThread | undefined
  opening: Opening | undefined
  /** Its compilation is not quick. */
  isSlow = false
  /** When it began to wait for a thread of its own. */
  delayedAt = 0
  /** Its first mask was found in time. */
  isProven = false
  /** Threads that ended while they worked for it. */
  deathCount = 0
  /** It was sent to be compiled at once or refused. */
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

/** Undefined for a constraint that JSON cannot represent: it is compiled each time. */
function keyHash({ input, policies }: NonNullable<WalkRequest["constraint"]>): string | undefined {
  if (!("kind" in input)) throw new Error("internal: a compiled constraint cannot change its thread")
  const hash = createHash("sha256")
  if (input.kind === "json" && typeof input.schema === "string") {
    // A schema's text is not quoted first: it may be long.
    const key = keyOf({ ...input, schema: null }, policies)
    return key === undefined ? undefined : hash.update(`text ${key} `).update(input.schema).digest("base64")
  }
  const key = keyOf(input, policies)
  return key === undefined ? undefined : hash.update(`value ${key}`).digest("base64")
}
