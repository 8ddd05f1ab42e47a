/** A text that is read against the constraint while it is typed. */
import type { VNode } from "preact"
import { useMemo } from "preact/hooks"
import { Editor, type Mark } from "./editor.tsx"
import type { TextVerdict } from "./judgement.ts"

interface CheckProps {
  text: string
  verdict: TextVerdict | null
  /** Whether there is a constraint that compiles. */
  isReady: boolean
  onChange: (text: string) => void
}

export function Check({ text, verdict, isReady, onChange }: CheckProps): VNode {
  const marks = useMemo((): readonly Mark[] => {
    if (!isReady || verdict === null || verdict.at > text.length) return []
    return [
      { from: 0, to: verdict.at, className: "ok" },
      { from: verdict.at, to: text.length, className: "dead" },
    ]
  }, [text, verdict, isReady])
  return (
    <section class="panel check" aria-labelledby="check-title">
      <h2 id="check-title">Check a text</h2>
      <p class="quiet" id="check-help">
        Type a text, or its beginning. What the constraint allows is green, the rest is red.
      </p>
      <div class="field short">
        <Editor
          label="Text to check"
          value={text}
          language="text"
          onChange={onChange}
          marks={marks}
          numbered={false}
        />
      </div>
      <div role="status" class="verdict">
        {isReady && verdict !== null && <Verdict text={text} verdict={verdict} />}
      </div>
    </section>
  )
}

function Verdict({ text, verdict }: { text: string; verdict: TextVerdict }): VNode {
  const { accepted, prefix, line, column, expected } = verdict
  const state = accepted ? "good" : prefix ? "warn" : "bad"
  const what = accepted
    ? "accepted"
    : prefix
      ? text === ""
        ? "empty: not yet a whole text"
        : "a beginning: not yet a whole text"
      : `rejected at line ${line}, column ${column}`
  return (
    <>
      <p>
        <span class={`badge ${state}`}>{what}</span>
      </p>
      {expected.length > 0 && (
        <>
          <p class="quiet">What may come here:</p>
          <ul class="expected">
            {expected.map(({ what: kind, example, path }) => (
              <li key={`${path} ${kind} ${example}`}>
                {kind === JSON.stringify(example) ? "" : `${kind}, such as `}
                <code class="sample">{example}</code> {path !== "" && <span class="quiet mono">{path}</span>}
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  )
}
