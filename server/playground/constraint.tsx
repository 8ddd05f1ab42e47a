/** The editor of the constraint, a tab for each kind, with the report beside it. */
import type { VNode } from "preact"
import { useMemo, useRef } from "preact/hooks"
import { Editor, type EditorHandle } from "./editor.tsx"
import { starterOf } from "./gallery.ts"
import type { Judgement } from "./judgement.ts"
import { rangeOf } from "./place.ts"
import { Report, withoutPath } from "./report.tsx"
import { isJsonKind, type Kind, kindHelp, kindNames, kinds, type Setup } from "./setup.ts"
import { Tabs } from "./tabs.tsx"

interface ConstraintProps {
  setup: Setup
  judgement: Judgement | null
  change: (part: Partial<Setup>) => void
}

export function Constraint({ setup, judgement, change }: ConstraintProps): VNode {
  const { kind, text } = setup
  const editor = useRef<EditorHandle | null>(null)
  /** The texts of the other kinds, for when the visitor returns to them. */
  const others = useRef(new Map<Kind, string>())
  const select = (next: Kind): void => {
    if (next === kind) return
    others.current.set(kind, text)
    change({ kind: next, text: others.current.get(next) ?? starterOf(next), check: "" })
  }
  const place = (path: string): { from: number; to: number } | null =>
    rangeOf(path, text, isJsonKind(kind) ? (editor.current?.tree() ?? null) : null)
  const refusal = judgement?.refusal ?? null
  // The place is found anew when the refusal changes, not with each letter.
  const diagnostics = useMemo(() => {
    if (refusal === null) return []
    const range = place(refusal.path) ?? { from: 0, to: Math.min(text.length, 1) }
    return [{ ...range, severity: "error" as const, message: withoutPath(refusal.message, refusal.path) }]
  }, [refusal])
  return (
    <section class="panel constraint" aria-labelledby="constraint-title">
      <h2 id="constraint-title">Constraint</h2>
      <Tabs
        label="Kind of constraint"
        name="kind"
        tabs={kinds.map((id) => ({ id, label: kindNames[id] }))}
        selected={kind}
        onSelect={select}
      >
        <p class="quiet" id="kind-help">
          {kindHelp[kind]}
        </p>
        <div class="split">
          {kind !== "none" && (
            <div class="field tall">
              <Editor
                label={`${kindNames[kind]}: constraint`}
                value={text}
                language={isJsonKind(kind) ? "json" : "text"}
                onChange={(next) => change({ text: next })}
                diagnostics={diagnostics}
                handle={(handle) => {
                  editor.current = handle
                }}
              />
            </div>
          )}
          <section class="report" aria-label="Report of the constraint">
            <Report
              kind={kind}
              judgement={judgement}
              show={(path) => {
                const range = place(path)
                if (range) editor.current?.select(range.from, range.to)
              }}
            />
          </section>
        </div>
      </Tabs>
    </section>
  )
}
