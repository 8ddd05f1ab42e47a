/** What the model wrote, in several views. */
import type { VNode } from "preact"
import { useState } from "preact/hooks"
import type { Backend } from "./backend.ts"
import { Charts } from "./charts.tsx"
import { Code } from "./code.tsx"
import { pageBase } from "./inpage.ts"
import { Log } from "./log.tsx"
import { withText } from "./request.ts"
import type { Run } from "./run.ts"
import type { Setup } from "./setup.ts"
import { Step } from "./step.tsx"
import { Tabs } from "./tabs.tsx"
import { Tokens } from "./tokens.tsx"
import { Value } from "./value.tsx"

interface OutputProps {
  run: Run | null
  setup: Setup
  /** The request as a program would send it. */
  body: Record<string, unknown>
  backend: Backend
  canRun: boolean
  change: (part: Partial<Setup>) => void
  /** Starts a run whose answer begins with these tokens. */
  onFinish: (tokens: readonly number[]) => void
}

const views = [
  { id: "tokens", label: "Tokens" },
  { id: "value", label: "Value" },
  { id: "step", label: "Step by step" },
  { id: "charts", label: "Charts" },
  { id: "code", label: "Code" },
  { id: "events", label: "Events" },
] as const

export function Output(props: OutputProps): VNode {
  const { run, setup, body, backend, canRun, change, onFinish } = props
  const [view, setView] = useState<(typeof views)[number]["id"]>("tokens")
  return (
    <section class="panel output" aria-labelledby="output-title">
      <h2 id="output-title">Answer</h2>
      <Summary run={run} />
      {run?.error != null && <p class="banner bad">{run.error}</p>}
      {run?.warnings.map((warning) => (
        <p key={warning} class="banner">
          {warning}
        </p>
      ))}
      <Tabs label="Views of the answer" name="view" tabs={views} selected={view} onSelect={setView}>
        {view === "tokens" && <Tokens run={run} />}
        {view === "value" && <Value run={run} />}
        {view === "step" && (
          <Step
            backend={backend}
            body={withText(body, setup.kind, setup.text)}
            canRun={canRun}
            onFinish={(tokens) => {
              onFinish(tokens)
              setView("tokens")
            }}
          />
        )}
        {view === "charts" && <Charts run={run} />}
        {view === "code" && <Code base={baseOf(backend)} body={body} setup={setup} />}
        {view === "events" && <Log run={run} />}
      </Tabs>
      {(view === "tokens" || view === "value") && run?.state === "done" && run.text !== "" && (
        <div class="row">
          <button
            type="button"
            onClick={() =>
              change({
                messages: [
                  ...setup.messages,
                  { role: "assistant", content: run.text },
                  { role: "user", content: "" },
                ],
              })
            }
          >
            Continue the conversation
          </button>
        </div>
      )}
    </section>
  )
}

/** Returns the URL of the server for programs: without one, that of a server on this machine. */
function baseOf({ base }: Backend): string {
  return base === pageBase ? "http://127.0.0.1:8080" : new URL(".", base).href.replace(/\/$/, "")
}

/** One line about the state of the run. Only its end is announced. */
function Summary({ run }: { run: Run | null }): VNode {
  return (
    <p class="summary quiet" role="status">
      {run === null
        ? "Nothing was run yet."
        : run.state === "running"
          ? "The model is writing."
          : textOf(run)}
    </p>
  )
}

function textOf(run: Run): string {
  const { trace, usage, finish, stopReason, state, seed } = run
  if (state === "failed") return "The request failed."
  if (state === "stopped") return `Stopped after ${trace.length} tokens.`
  const count = usage?.completion_tokens ?? trace.length
  const parts = [count === 1 ? "1 token" : `${count} tokens`]
  const forced = usage?.tokenrail?.forced_tokens
  if (forced !== undefined) parts.push(`${forced} forced`)
  if (usage?.tokenrail) parts.push(`first token after ${Math.round(usage.tokenrail.ttft_ms)} ms`)
  const reason = stopReason === null ? "" : ` (${stopReason})`
  if (finish !== null) parts.push(`finished: ${finish}${reason}`)
  if (seed !== null) parts.push(`seed ${seed}`)
  return parts.join(" · ")
}
