/**
 * The tokens of an answer as chips, coloured by how they came about, and what the mask did at the
 * one that is pointed at. The arrow keys move between chips.
 */
import type { VNode } from "preact"
import { useRef, useState } from "preact/hooks"
import type { Run } from "./run.ts"
import type { LikelyToken, TokenKind, TraceRow } from "./wire.ts"

const kindWords: Readonly<Record<TokenKind, string>> = {
  ...{ sampled: "drawn by the model", forced: "forced by the constraint", draft: "taken from a draft" },
  ...{ closing: "written to close in time", given: "chosen by hand" },
}

/** Returns a token's text with its invisible characters shown; half characters as bytes. */
export function visible({ text, bytes }: Pick<TraceRow, "text" | "bytes">): string {
  if (text.includes("\ufffd")) return bytes.map((byte) => `<${byte.toString(16).padStart(2, "0")}>`).join("")
  const shown = text.replaceAll("\n", "⏎").replaceAll("\t", "⇥")
  return shown.replace(/^ +| +$/g, (spaces) => "·".repeat(spaces.length)) || "(empty)"
}

/** Maximum number of chips; a page with more becomes slow. */
const maxChips = 2_000

export function Tokens({ run }: { run: Run | null }): VNode {
  const [chosen, choose] = useState(0)
  const list = useRef<HTMLDivElement>(null)
  if (run === null || run.trace.length === 0) {
    return (
      <p class="quiet">
        {run?.state === "running" ? "Waiting for the first token." : "Run the request to see its tokens."}
      </p>
    )
  }
  const rows = run.trace.slice(0, maxChips)
  const at = Math.min(chosen, rows.length - 1)
  const move = (event: KeyboardEvent): void => {
    const steps: Record<string, number> = {
      ...{ ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: rows.length - 1 },
    }
    const next = steps[event.key]
    if (next === undefined || next < 0 || next >= rows.length) return
    event.preventDefault()
    choose(next)
    list.current?.querySelectorAll<HTMLElement>("button")[next]?.focus()
  }
  const used = [...new Set(rows.map(({ kind }) => kind))]
  return (
    <div class="tokens">
      <ul class="legend" aria-label="Colours of the tokens">
        {used.map((kind) => (
          <li key={kind}>
            <span class={`swatch ${kind}`} aria-hidden="true" /> {kindWords[kind]}
          </li>
        ))}
      </ul>
      <div class="chips" role="toolbar" aria-label="Tokens of the answer" ref={list} onKeyDown={move}>
        {rows.map((row, index) => (
          <button
            // The place of a token is its identity.
            key={index}
            type="button"
            class={`chip ${row.kind}`}
            tabIndex={index === at ? 0 : -1}
            aria-label={labelOf(row, index)}
            aria-pressed={index === at}
            onMouseEnter={() => choose(index)}
            onFocus={() => choose(index)}
            onClick={() => choose(index)}
          >
            {visible(row)}
          </button>
        ))}
      </div>
      {run.trace.length > maxChips && (
        <p class="quiet">
          The first {maxChips} of {run.trace.length} tokens are shown.
        </p>
      )}
      {rows[at] && <Details row={rows[at]} index={at} />}
    </div>
  )
}

function labelOf({ kind, allowed, ...row }: TraceRow, index: number): string {
  const count = allowed === null ? "" : `, ${allowed} allowed`
  return `Token ${index + 1}: ${visible(row)}, ${kindWords[kind]}${count}`
}

/** Returns a probability as a percentage with some three digits. */
function percent(share: number): string {
  if (share > 0 && share < 0.0001) return "< 0.01 %"
  return `${(100 * share).toFixed(share < 0.1 ? 2 : 1)} %`
}

function timeOf(us: number): string {
  return us < 1_000 ? `${us.toFixed(1)} µs` : `${(us / 1_000).toFixed(1)} ms`
}

function Details({ row, index }: { row: TraceRow; index: number }): VNode {
  const { id, kind, allowed, mass, entropy, mask_us, top, illegal } = row
  return (
    <section class="details" aria-label={`Token ${index + 1}`}>
      <h3>
        <span class={`swatch ${kind}`} aria-hidden="true" /> Token {index + 1}:{" "}
        <code class="sample">{visible(row)}</code>
      </h3>
      <dl class="facts">
        <Fact name="Came about">{kindWords[kind]}</Fact>
        <Fact name="Id">{id}</Fact>
        <Fact name="Allowed tokens">{allowed === null ? "–" : allowed.toLocaleString("en")}</Fact>
        <Fact name="Probability removed">{mass === null ? "–" : percent(1 - mass)}</Fact>
        <Fact name="Entropy">{entropy === null ? "–" : `${entropy.toFixed(2)} bits`}</Fact>
        <Fact name="Mask">{mask_us === null ? "–" : timeOf(mask_us)}</Fact>
      </dl>
      {allowed === null ? (
        <p class="quiet">The constraint allows one text here, so the model was not asked.</p>
      ) : (
        <div class="sides">
          <Likely title="Likeliest allowed" rows={top} chosen={id} />
          <Likely title="Likeliest forbidden" rows={illegal} chosen={id} />
        </div>
      )}
    </section>
  )
}

function Fact({ name, children }: { name: string; children: VNode | string | number }): VNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function Likely({
  title,
  rows,
  chosen,
}: {
  title: string
  rows: readonly LikelyToken[]
  chosen: number
}): VNode {
  return (
    <table class="likely">
      <caption>{title}</caption>
      <tbody>
        {rows.map((row) => (
          <tr key={row.id} class={row.id === chosen ? "chosen" : ""}>
            <th scope="row">
              <code class="sample">{visible(row)}</code>
            </th>
            <td>
              <Bar share={Math.exp(row.logprob)} />
            </td>
          </tr>
        ))}
        {rows.length === 0 && (
          <tr>
            <td class="quiet">none</td>
          </tr>
        )}
      </tbody>
    </table>
  )
}

/** A probability as a bar with its number. */
export function Bar({ share }: { share: number }): VNode {
  return (
    <span class="share">
      <span class="bar" aria-hidden="true">
        <span style={{ width: `${(100 * share).toFixed(2)}%` }} />
      </span>
      <span class="number">{percent(share)}</span>
    </span>
  )
}
