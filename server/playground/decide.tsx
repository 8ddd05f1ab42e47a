/** Questions about a text, answered by the exact probabilities of given options. */
import type { Diagnostic } from "@codemirror/lint"
import type { VNode } from "preact"
import { useState } from "preact/hooks"
import { ApiError, type Backend, send } from "./backend.ts"
import { Editor } from "./editor.tsx"
import { Bar } from "./tokens.tsx"
import type { DecisionReply } from "./wire.ts"

const firstInput = "My invoice of May shows a charge twice, and nobody answers the phone."

const firstQuestions = [
  {
    type: "choice",
    name: "topic",
    instructions: "What is this message about?",
    choices: [
      { value: "billing", description: "invoices and payments" },
      { value: "technical" },
      { value: "other" },
    ],
  },
  { type: "predicate", name: "angry", instructions: "The customer is angry." },
  {
    type: "score",
    name: "urgency",
    instructions: "How urgent is it?",
    levels: [{ label: "low" }, { label: "medium" }, { label: "high" }],
  },
]

export function Decide({ backend, model }: { backend: Backend; model: string | null }): VNode {
  const [input, setInput] = useState(firstInput)
  const [questions, setQuestions] = useState(() => JSON.stringify(firstQuestions, null, 2))
  const [reply, setReply] = useState<DecisionReply | null>(null)
  const [error, setError] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const ask = async (): Promise<void> => {
    setBusy(true)
    setError(null)
    try {
      const body = { model, input, questions: JSON.parse(questions) as unknown }
      const response = await send(backend, "v1/decisions", body)
      setReply((await response.json()) as DecisionReply)
    } catch (failure) {
      setReply(null)
      const place = failure instanceof ApiError && failure.param !== null ? `${failure.param}: ` : ""
      const message = failure instanceof Error ? failure.message : String(failure)
      setError(message.startsWith(place) ? message : place + message)
    } finally {
      setBusy(false)
    }
  }
  return (
    <>
      <section class="panel" aria-labelledby="decide-title">
        <h2 id="decide-title">Questions about a text</h2>
        <p class="quiet">
          Nothing is drawn: each option gets the probability that the model writes exactly it.
        </p>
        <label for="decide-input">Text</label>
        <textarea
          id="decide-input"
          rows={3}
          value={input}
          onInput={(event) => setInput(event.currentTarget.value)}
        />
        <p class="label">Questions</p>
        <div class="field tall">
          <Editor
            label="Questions, as JSON"
            value={questions}
            language="json"
            onChange={setQuestions}
            diagnostics={noDiagnostics}
          />
        </div>
        <div class="row">
          <button
            type="button"
            class="primary"
            disabled={isBusy || model === null}
            onClick={() => void ask()}
          >
            Decide
          </button>
          <span role="status" class="quiet">
            {isBusy ? "The model is asked." : reply ? `${reply.answers.length} answers.` : ""}
          </span>
        </div>
      </section>
      <section class="panel" aria-labelledby="answers-title">
        <h2 id="answers-title">Answers</h2>
        {error !== null && <p class="banner bad">{error}</p>}
        {reply === null && error === null && <p class="quiet">Nothing was asked yet.</p>}
        {reply?.answers.map((answer, index) => (
          <Answer key={index} answer={answer} index={index} />
        ))}
      </section>
    </>
  )
}

const noDiagnostics: readonly Diagnostic[] = []

function Answer({ answer, index }: { answer: DecisionReply["answers"][number]; index: number }): VNode {
  const { name, probability, probabilities, choice, score, tokenrail } = answer
  const rows =
    probabilities ??
    [true, false].map((value) => ({ value, probability: value ? probability! : 1 - probability! }))
  const result = choice !== undefined ? String(choice) : score !== undefined ? score.toFixed(2) : ""
  return (
    <table class="likely answer-table">
      <caption>
        <strong>{name ?? `Question ${index + 1}`}</strong>{" "}
        {result && <span class="badge plain">{result}</span>}{" "}
        <span class="quiet">
          the options hold {(100 * tokenrail.mass).toFixed(1)} % of the model's probability
        </span>
      </caption>
      <tbody>
        {rows.map((row) => (
          <tr key={String(row.value)}>
            <th scope="row">{"label" in row && row.label !== undefined ? row.label : String(row.value)}</th>
            <td>
              <Bar share={row.probability} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
