/**
 * The value of a JSON answer as it grows: the events of its fields open, extend and close the nodes
 * of a tree. Nothing is parsed again.
 */
import type { VNode } from "preact"
import type { Run } from "./run.ts"
import type { FieldRow } from "./wire.ts"

interface ValueNode {
  path: string
  kind: string
  /** Text of a string so far; the JSON of another closed scalar. */
  text: string
  isClosed: boolean
  children: ValueNode[]
}

/** Returns the roots of the values: that of the answer, and those of the arguments of calls. */
function growTree(events: readonly FieldRow[]): Map<number, ValueNode> {
  const roots = new Map<number, ValueNode>()
  const known = new Map<string, ValueNode>()
  for (const { event, path, kind, delta, value, tool_index: call = -1 } of events) {
    const key = `${call} ${path}`
    if (event === "open") {
      const node = { path, kind: kind ?? "", text: "", isClosed: false, children: [] }
      const parent = known.get(`${call} ${path.slice(0, path.lastIndexOf("/"))}`)
      if (path === "") roots.set(call, node)
      else parent?.children.push(node)
      known.set(key, node)
      continue
    }
    const node = known.get(key)
    if (node === undefined) continue
    if (event === "delta") node.text += delta ?? ""
    else {
      node.isClosed = true
      if (node.kind !== "string" && node.children.length === 0) node.text = JSON.stringify(value)
    }
  }
  return roots
}

export function Value({ run }: { run: Run | null }): VNode {
  if (run === null) return <p class="quiet">Run the request to see its value.</p>
  const roots = growTree(run.fields)
  return (
    <div class="value">
      {run.reasoning !== "" && (
        <details>
          <summary>Reasoning</summary>
          <p class="answer">{run.reasoning}</p>
        </details>
      )}
      {run.calls.map(({ id, name, args }, index) => (
        <section key={id} class="call">
          <h3>
            Call of <code class="sample">{name}</code>
          </h3>
          {roots.get(index) ? (
            <Node node={roots.get(index)!} name="arguments" />
          ) : (
            <pre class="source">{args}</pre>
          )}
        </section>
      ))}
      {roots.get(-1) && (
        <section aria-label="Value of the answer">
          <Node node={roots.get(-1)!} name="answer" />
        </section>
      )}
      {run.text !== "" && (
        <>
          <h3>Text</h3>
          <pre class="source answer">{run.text}</pre>
        </>
      )}
      {roots.size === 0 && run.text === "" && run.calls.length === 0 && (
        <p class="quiet">Nothing was written yet.</p>
      )}
    </div>
  )
}

function nameOf(path: string): string {
  return path
    .slice(path.lastIndexOf("/") + 1)
    .replaceAll("~1", "/")
    .replaceAll("~0", "~")
}

function Node({ node, name }: { node: ValueNode; name: string }): VNode {
  const { kind, text, isClosed, children } = node
  const isContainer = kind === "object" || kind === "array"
  const count = `${children.length} ${children.length === 1 ? "member" : "members"}`
  return (
    <div class={isClosed ? "node" : "node open"}>
      <span class="name">{name}</span>
      <span class="kind">{kind}</span>
      {isContainer ? (
        <span class="quiet">{count}</span>
      ) : (
        <code class={`sample ${kind}`}>
          {kind === "string" ? JSON.stringify(text).slice(0, isClosed ? undefined : -1) : text}
        </code>
      )}
      {!isClosed && <span class="badge warn">open</span>}
      {children.length > 0 && (
        <ul>
          {children.map((child) => (
            <li key={child.path}>
              <Node node={child} name={nameOf(child.path)} />
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
