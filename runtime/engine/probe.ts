/**
 * Looks at the logits after a given text: a request for one token, which is never written. Searches
 * for beams, decisions and scores are made of such looks.
 */
import { onlyToken } from "../../mask/index.ts"
import type { Vocabulary } from "../../mask/vocabulary.ts"
import { onAbort } from "../aborts.ts"
import { AbortError } from "../errors.ts"
import type { GuideHost, OpenedGuides } from "../guides/guide.ts"
import type { WalkRequest } from "../guides/opening.ts"
import type { Probe } from "./beams.ts"
import type { ReadRequest } from "./request.ts"
import { Sequence } from "./sequence.ts"

/** The parts of an engine that a look needs. */
export interface ProbeHost {
  readonly vocabulary: Vocabulary
  readonly contextLength: number
  readonly guides: Pick<GuideHost, "release">
  openGuides(request: WalkRequest, count: number, signal: AbortSignal): Promise<OpenedGuides>
  /** Throws RequestError if the engine can take no more requests. */
  checkAlive(): void
  /** Puts the sequence into the queue. */
  add(sequence: Sequence): void
  /** Ends the sequence by `abort`. */
  end(sequence: Sequence): void
}

/**
 * Returns the logits that follow the `written` tokens of an answer; null if the constraint lets no
 * token follow them. Rejects with ModelError, with AbortError and with the errors of opening a
 * walk.
 */
export async function probe(
  host: ProbeHost,
  request: ReadRequest,
  written: readonly number[],
  signal: AbortSignal,
): ReturnType<Probe> {
  const { walk, promptIds } = request
  const opened = walk && (await host.openGuides({ ...walk, written }, 1, signal))
  const [guide = null] = opened?.guides ?? []
  const isOver = opened?.opening.isExhausted === true
  if (guide && (isOver || signal.aborted)) host.guides.release(guide)
  host.checkAlive()
  if (signal.aborted) throw new AbortError("", { cause: signal.reason })
  if (isOver) return null
  return new Promise((resolve, reject) => {
    let seen: Awaited<ReturnType<Probe>> = null
    const sequence = new Sequence({
      ...request,
      ...{ promptIds: [...promptIds, ...written], maxTokens: 1, minTokens: 0, promptLogprobs: null },
      vocabulary: host.vocabulary,
      guide,
      isConstrained: guide !== null,
      isComplete: opened?.opening.isAccepting ?? true,
      contextLength: host.contextLength,
      choice: 0,
      take: (logits, { mask }) => {
        seen = { logits: logits.slice(), mask: mask!.slice(), reusedCount: sequence.reusedCount }
        return { token: onlyToken(mask!), status: "ok" }
      },
      emit: ({ type, ...event }) => {
        if (type !== "finish") return
        release()
        if (seen) resolve(seen)
        else reject(("error" in event && event.error) || new AbortError("", { cause: signal.reason }))
      },
    })
    const release = onAbort(signal, () => host.end(sequence))
    host.add(sequence)
  })
}
