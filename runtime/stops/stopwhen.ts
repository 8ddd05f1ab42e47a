/**
 * Ends unconstrained text by its structure: after a whole JSON value, a whole XML element, or a
 * whole tool call.
 *
 * Text around it is skipped: JSON begins at a `{` or `[`, XML at a tag, a tool call's JSON after
 * its trigger. If a candidate turns out to be malformed it is text too, and the watch restarts at
 * the unit that did not fit. No text is held back: an end is recognized with its last unit.
 */

import { type JsonVerdict, JsonWatch } from "./jsonwatch.ts"
import { XmlWatch } from "./xmlwatch.ts"

export const stopWhenKinds = ["json", "xml", "tool_call"] as const
/**
 * The structure that ends a text: the first whole JSON object or array, XML element, or JSON of a
 * tool call.
 */
export type StopWhenKind = (typeof stopWhenKinds)[number]

/** The triggers that models write before a call in JSON, and the length of the longest of them. */
const callTrigger = /<tool_call>|\[TOOL_CALLS\]|<function_call>|<\|python_tag\|>/
const maxTriggerUnits = "<function_call>".length

interface TextWatch {
  push(text: string): JsonVerdict
}

/** Finds the end of the first whole value of its kind in a text that comes in pieces. */
export class StopWhen {
  readonly kind: StopWhenKind
  private watch: TextWatch
  /** Number of units of the text before the current candidate, and number of units read. */
  private base = 0
  private position = 0

  constructor(kind: StopWhenKind) {
    this.kind = kind
    this.watch = makeWatch(kind)
  }

  /**
   * Returns the length of the text at which the output ends; −1 if it continues. If `counts` is
   * false it always continues.
   */
  push(text: string, counts: boolean): number {
    const start = this.position
    this.position += text.length
    for (let from = 0; from < text.length; ) {
      const { status, end } = this.watch.push(text.slice(from))
      if (status === "incomplete") return -1
      if (status === "complete" && counts) return this.base + end
      this.base += end
      from = this.base - start
      this.watch = makeWatch(this.kind)
    }
    return -1
  }
}

function makeWatch(kind: StopWhenKind): TextWatch {
  if (kind === "json") return new JsonWatch("skip")
  return kind === "xml" ? new XmlWatch() : new CallWatch()
}

/** Watches for a trigger, followed by a JSON value. */
class CallWatch implements TextWatch {
  private json: JsonWatch | undefined
  /** The last units, which may be the beginning of a trigger. */
  private tail = ""
  private offset = 0

  push(text: string): JsonVerdict {
    let rest = text
    if (!this.json) {
      const whole = this.tail + text
      // One search for all triggers finds the first, so the text after it is read only once.
      const found = callTrigger.exec(whole)
      if (!found) {
        this.offset += text.length
        this.tail = whole.slice(1 - maxTriggerUnits)
        return { status: "incomplete", end: this.offset }
      }
      const end = found.index + found[0].length
      this.offset += end - this.tail.length
      rest = whole.slice(end)
      this.json = new JsonWatch()
    }
    const { status, end } = this.json.push(rest)
    return { status, end: this.offset + end }
  }
}
