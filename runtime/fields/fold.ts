/**
 * Builds the value that field events describe, event by event.
 *
 * Values open and close like brackets, so the open objects and arrays form a stack, and the last
 * part of a path is the member of the innermost one. After all events of a text the value equals
 * `JSON.parse` of it; after some of them it is a snapshot.
 */
import type { FieldEvent } from "./reader.ts"
import { type DeepPartial, setMember } from "./value.ts"

type Container = unknown[] | Record<string, unknown>

/**
 * Returns the value so far: closed values, open strings as far as they are written, and no other
 * open scalars. Undefined if no value has begun. If a name occurs twice, its last value counts.
 * O(1) an event.
 */
export function foldFields<Value = unknown>(events: Iterable<FieldEvent>): DeepPartial<Value> | undefined {
  let root: unknown
  /** Open objects and arrays, outermost first. */
  const open: { path: string; container: Container }[] = []
  /** The open string so far. */
  let text = ""
  const set = (path: string, value: unknown) => {
    const parent = open.at(-1)
    if (parent === undefined) root = value
    else setAt(parent.container, path.slice(parent.path.length + 1), value)
  }
  for (const event of events) {
    if (event.type === "delta") {
      text += event.delta
      set(event.path, text)
    } else if (event.type === "close") {
      if (open.at(-1)?.path === event.path) open.pop()
      else set(event.path, event.value)
    } else if (event.kind === "string") {
      text = ""
      set(event.path, text)
    } else if (event.kind === "object" || event.kind === "array") {
      const container: Container = event.kind === "array" ? [] : {}
      set(event.path, container)
      open.push({ path: event.path, container })
    }
  }
  return root as DeepPartial<Value> | undefined
}

/** Sets the member that the last part of a JSON pointer names. */
function setAt(container: Container, part: string, value: unknown): void {
  if (Array.isArray(container)) container[Number(part)] = value
  else setMember(container, part.replaceAll("~1", "/").replaceAll("~0", "~"), value)
}
