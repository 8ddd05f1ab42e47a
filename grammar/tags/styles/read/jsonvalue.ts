/**
 * Reads one JSON value from a stream, up to its end.
 */
import { jsonOfPython } from "../python.ts"
import type { Feed, Parse } from "./feed.ts"

/** Reads an object or array and passes its text to `emit` as it arrives. */
export function* jsonContainer(feed: Feed, emit: (text: string) => void): Parse {
  let depth = 0
  let isInString = false
  let isEscaped = false
  for (;;) {
    const { rest } = feed
    let end = 0
    for (let isOpen = true; isOpen && end < rest.length; end++) {
      const mark = rest[end]
      if (isEscaped) isEscaped = false
      else if (isInString) {
        isEscaped = mark === "\\"
        isInString = mark !== '"'
      } else if (mark === '"') isInString = true
      else if (mark === "{" || mark === "[") depth++
      else if (mark === "}" || mark === "]") isOpen = --depth > 0
      else if (depth === 0) feed.fail("an object or an array")
    }
    if (end > 0) emit(feed.take(end))
    if (end > 0 && depth === 0) return
    yield* feed.more()
  }
}

/**
 * Reads a value in Python's notation, up to the first character that cannot belong to it. Returns
 * its JSON.
 */
export function* pythonValue(feed: Feed): Parse<string> {
  let depth = 0
  let quote = ""
  let isEscaped = false
  for (let end = 0; ; end++) {
    while (end === feed.rest.length) yield* feed.more()
    const mark = feed.rest[end]
    if (isEscaped) isEscaped = false
    else if (quote !== "") {
      isEscaped = mark === "\\"
      if (mark === quote) quote = ""
    } else if (mark === '"' || mark === "'") quote = mark
    else if (mark === "{" || mark === "[") depth++
    else if (depth > 0 && (mark === "}" || mark === "]")) depth--
    else if (depth === 0 && (mark === "," || mark === ")")) return jsonOfPython(feed.take(end))
  }
}
