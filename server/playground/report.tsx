/** What the constraint compiles to, or where and why it is refused. */
import type { VNode } from "preact"
import type { Judgement } from "./judgement.ts"
import type { Kind } from "./setup.ts"
import type { KeywordRow } from "./wire.ts"

interface ReportProps {
  kind: Kind
  judgement: Judgement | null
  /** Selects the place that a path names in the editor. */
  show: (path: string) => void
}

const maxRows = 200

export function Report({ kind, judgement, show }: ReportProps): VNode {
  if (kind === "none") return <p class="quiet">Without a constraint the model may write anything.</p>
  if (judgement === null) return <p class="quiet">The constraint is being compiled.</p>
  const { refusal, report, shortest, ms } = judgement
  if (refusal !== null) {
    const [first, ...rest] = refusal.message.split("\n")
    return (
      <div class="refusal">
        <p>
          <span class="badge bad">{refusal.kind}</span>{" "}
          {refusal.path !== "" && (
            <button type="button" class="link mono" onClick={() => show(refusal.path)}>
              {refusal.path}
            </button>
          )}
        </p>
        <p>{withoutPath(first, refusal.path)}</p>
        {rest.length > 0 && <pre class="source">{rest.join("\n")}</pre>}
      </div>
    )
  }
  return (
    <div>
      <p>
        <span class="badge good">compiles</span>{" "}
        <span class="quiet">in {ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms</span>
      </p>
      {shortest !== null && (
        <p>
          A shortest text: <code class="sample">{shortest === "" ? "(the empty text)" : shortest}</code>
        </p>
      )}
      {report && report.keywords.length > 0 && (
        <Keywords rows={report.keywords} counts={report.counts} show={show} />
      )}
    </div>
  )
}

/** Returns a message without the path that begins it. */
export function withoutPath(message: string, path: string): string {
  const rest = path !== "" && message.startsWith(`${path}: `) ? message.slice(path.length + 2) : message
  return rest.slice(0, 1).toUpperCase() + rest.slice(1)
}

const statuses: Readonly<Record<KeywordRow["status"], string>> = {
  ...{ exact: "enforced", annotation: "annotation", relaxed: "relaxed" },
}

function Keywords(props: {
  rows: readonly KeywordRow[]
  counts: { exact: number; annotation: number; relaxed: number }
  show: (path: string) => void
}): VNode {
  const { rows, counts, show } = props
  return (
    <>
      <p class="quiet">
        {counts.exact} enforced, {counts.annotation} without effect by the standard
        {counts.relaxed > 0 && `, ${counts.relaxed} relaxed`}
      </p>
      <section class="scroll" aria-label="Keywords of the constraint">
        <table>
          <thead>
            <tr>
              <th scope="col">Keyword</th>
              <th scope="col">Status</th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, maxRows).map(({ path, keyword, status, note }) => (
              <tr key={`${path} ${keyword} ${note ?? ""}`}>
                <td>
                  <button type="button" class="link mono" onClick={() => show(path)}>
                    {path === "" ? keyword : path}
                  </button>
                  {note !== undefined && <div class="quiet">{note}</div>}
                </td>
                <td>
                  <span
                    class={`badge ${status === "exact" ? "good" : status === "relaxed" ? "warn" : "plain"}`}
                  >
                    {statuses[status]}
                  </span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {rows.length > maxRows && <p class="quiet">{rows.length - maxRows} further keywords are not shown.</p>}
    </>
  )
}
