/**
 * The step mode: a person picks each token from those that the constraint allows. Every step asks
 * for an answer that begins with the tokens picked so far (`tokenrail.first_tokens`), and reads its
 * trace up to the next token that has a choice; tokens without one are added.
 */
import type { VNode } from "preact"
import { useEffect, useRef, useState } from "preact/hooks"
import { type Backend, send } from "./backend.ts"
import { tracedBody } from "./request.ts"
import { dataOf, readEvents } from "./sse.ts"
import { Bar, visible } from "./tokens.tsx"
import type { Chunk, LikelyToken, TraceRow } from "./wire.ts"

interface StepProps {
  backend: Backend
  /** The request, with the exact text of its constraint. */
  body: Record<string, unknown>
  canRun: boolean
  /** Lets the model finish an answer that begins with these tokens. */
  onFinish: (tokens: readonly number[]) => void
}

/** A place: the tokens before it, and what may come. Null: the answer is complete. */
interface Place {
  before: TraceRow[]
  next: TraceRow | null
}

const listed = 64

/** Reads the place behind `picked`. Rejects with ApiError and AbortError. */
async function placeAfter(props: StepProps, picked: readonly number[], signal: AbortSignal): Promise<Place> {
  const most = Number(props.body.max_tokens)
  if (picked.length >= most) throw new Error(`these are ${most} tokens, the most that the options allow`)
  const body = tracedBody(props.body, { trace: listed, firstTokens: picked })
  const before: TraceRow[] = []
  const response = await send(props.backend, "v1/chat/completions", body, signal)
  for await (const block of readEvents(response.body!)) {
    const data = dataOf(block)
    if (data === "" || data === "[DONE]") continue
    const chunk = JSON.parse(data) as Chunk
    if (chunk.error) throw new Error(chunk.error.message)
    for (const row of chunk.choices?.flatMap(({ tokenrail }) => tokenrail?.trace ?? []) ?? []) {
      if (before.length >= picked.length && row.top.length > 0) return { before, next: row }
      before.push(row)
    }
  }
  return { before, next: null }
}

interface Steps {
  /** Null before the first step. */
  place: Place | null
  error: string | null
  isBusy: boolean
  /** For each pick, the number of tokens before it, for the way back. */
  picks: readonly number[]
  /** Goes to the place behind these tokens. */
  go: (tokens: readonly number[], picks: readonly number[]) => Promise<void>
  reset: () => void
}

function useSteps(props: StepProps): Steps {
  const [place, setPlace] = useState<Place | null>(null)
  const [error, setError] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const [picks, setPicks] = useState<readonly number[]>([])
  const control = useRef<AbortController | null>(null)
  const go = async (tokens: readonly number[], next: readonly number[]): Promise<void> => {
    control.current?.abort()
    const own = new AbortController()
    control.current = own
    setBusy(true)
    setError(null)
    try {
      const found = await placeAfter(props, tokens, own.signal)
      if (own.signal.aborted) return
      setPlace(found)
      setPicks(next)
    } catch (failure) {
      if (!own.signal.aborted) setError(failure instanceof Error ? failure.message : String(failure))
    } finally {
      if (!own.signal.aborted) setBusy(false)
    }
  }
  const reset = (): void => {
    setPlace(null)
    setPicks([])
    setError(null)
    setBusy(false)
  }
  // Another request begins anew.
  const key = JSON.stringify(props.body)
  useEffect(() => {
    reset()
    return () => control.current?.abort()
  }, [key])
  return { place, error, isBusy, picks, go, reset }
}

export function Step(props: StepProps): VNode {
  const { canRun, onFinish } = props
  const { place, error, isBusy, picks, go, reset } = useSteps(props)
  const idsOf = (count: number): number[] => (place?.before ?? []).slice(0, count).map(({ id }) => id)
  if (place === null) {
    return (
      <div>
        <p class="quiet">Choose each token by hand, among those that the constraint allows.</p>
        <div class="row">
          <button type="button" class="primary" disabled={!canRun || isBusy} onClick={() => void go([], [])}>
            Begin
          </button>
          {isBusy && <span class="quiet">The model is asked.</span>}
        </div>
        {error !== null && <p class="banner bad">{error}</p>}
      </div>
    )
  }
  const { before, next } = place
  return (
    <div class="step">
      <section class="source" aria-label="Text so far">
        <pre>{textOf(before) || " "}</pre>
      </section>
      <p role="status" class="quiet">
        {before.length} tokens.{" "}
        {isBusy
          ? "The model is asked."
          : next === null
            ? "The text is complete."
            : `${next.allowed?.toLocaleString("en")} tokens may come next; the mask removes ${(100 * (1 - (next.mass ?? 1))).toFixed(1)} % of the probability.`}
      </p>
      {error !== null && <p class="banner bad">{error}</p>}
      <div class="row">
        <button
          type="button"
          disabled={picks.length === 0 || isBusy}
          onClick={() => void go(idsOf(picks[picks.length - 1]), picks.slice(0, -1))}
        >
          Back
        </button>
        <button type="button" disabled={isBusy} onClick={reset}>
          Begin anew
        </button>
        <button
          type="button"
          disabled={isBusy || next === null}
          onClick={() => onFinish(idsOf(before.length))}
        >
          Let the model finish
        </button>
      </div>
      {next && (
        <Picker
          rows={next.top}
          allowed={next.allowed ?? 0}
          isBusy={isBusy}
          onPick={(id) => void go([...idsOf(before.length), id], [...picks, before.length])}
        />
      )}
    </div>
  )
}

function textOf(rows: readonly TraceRow[]): string {
  return new TextDecoder().decode(Uint8Array.from(rows.flatMap(({ bytes }) => bytes)))
}

function Picker(props: {
  rows: readonly LikelyToken[]
  allowed: number
  isBusy: boolean
  onPick: (id: number) => void
}): VNode {
  const { rows, allowed, isBusy, onPick } = props
  const [filter, setFilter] = useState("")
  const shown = rows.filter(({ text }) => text.includes(filter))
  return (
    <div>
      <div class="row">
        <label for="filter">Only tokens with</label>
        <input id="filter" value={filter} onInput={(event) => setFilter(event.currentTarget.value)} />
        <span class="quiet">
          {allowed > rows.length ? `the ${rows.length} likeliest of ${allowed.toLocaleString("en")}` : ""}
        </span>
      </div>
      <ul class="picker" aria-label="Tokens that may come next">
        {shown.map((row) => (
          <li key={row.id}>
            <button type="button" disabled={isBusy} onClick={() => onPick(row.id)}>
              <code class="sample">{visible(row)}</code>
              <Bar share={Math.exp(row.logprob)} />
            </button>
          </li>
        ))}
      </ul>
      {shown.length === 0 && <p class="quiet">None of the listed tokens has this text.</p>}
    </div>
  )
}
