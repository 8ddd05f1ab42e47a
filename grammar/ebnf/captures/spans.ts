/**
 * The spans that one reading of a text has captured so far, and the order that decides which of two
 * readings is kept.
 *
 * The spans are a list in the order of their starts, outer ones before inner ones, linked from the
 * last to the first, so that readings share their common prefix. A span that has begun is open
 * until its end is read. Of two readings with the same future the better one is that whose first
 * span begins leftmost; then the one whose first span is longer; then the second span is compared
 * in the same way, and so on (POSIX's order, over all spans of a text). Empty spans are compared
 * last, because any reading could have them as well.
 */

/** A list of spans. Names are numbers, in the order in which they were met. */
export interface Spans {
  readonly before: Spans | null
  /** Number of spans up to this one. */
  readonly count: number
  readonly name: number
  readonly start: number
  /** The offset where it ended, or `Open`. */
  readonly end: number
}

const Open = -1

/** The span lists of one text. */
export class SpanLists {
  /** Number of spans that were copied or compared. */
  steps = 0

  /** Returns `spans` and a new span that begins at `start`. */
  opened(spans: Spans | null, name: number, start: number): Spans {
    return linked(spans, name, start, Open)
  }

  /** Returns `spans` with the last open one closed at `end`. O(spans after it). */
  closed(spans: Spans | null, end: number): Spans | null {
    const inner: Spans[] = []
    let span = spans
    for (; span !== null && span.end !== Open; span = span.before) inner.push(span)
    if (span === null) throw new Error("internal: no span is open")
    this.steps += inner.length
    const { name, start } = span
    let result = added(span.before, name, start, end)
    for (let i = inner.length - 1; i >= 0; i--) {
      const each = inner[i]
      // A rule that consists of itself has only one span, however often it is nested.
      if (each.name !== name || each.start !== start || each.end !== end)
        result = added(result, each.name, each.start, each.end)
    }
    return result
  }

  /** Returns the spans of two texts in a row. O(spans of the second). */
  joined(first: Spans | null, second: Spans | null): Spans | null {
    if (first === null || second === null) return first ?? second
    this.steps += second.count
    let all: Spans | null = first
    for (const { name, start, end } of inOrder(second)) all = added(all, name, start, end)
    return all
  }

  /**
   * Returns whether a reading with `a` is better than one with `b`. O(spans that they do not
   * share).
   */
  isBetter(a: Spans | null, b: Spans | null): boolean {
    if (a === b) return false
    const shared = sharedBy(a, b)
    const [left, right] = [inOrder(a, shared), inOrder(b, shared)]
    this.steps += left.length + right.length
    const order = compared(left.filter(isRead), right.filter(isRead)) || left.length - right.length
    return (order || compared(left, right)) > 0
  }
}

/** Returns the spans from the first to the last, without those up to `until`. */
export function inOrder(spans: Spans | null, until: Spans | null = null): Spans[] {
  const list: Spans[] = []
  for (let span = spans; span !== null && span !== until; span = span.before) list.push(span)
  return list.reverse()
}

/** Returns the common prefix of both lists; null if it is empty. */
function sharedBy(a: Spans | null, b: Spans | null): Spans | null {
  let [x, y] = [a, b]
  while (x !== null && y !== null && x !== y) {
    if (x.count >= y.count) x = x.before
    else y = y.before
  }
  return x === y ? x : null
}

/** Returns whether the span is not empty, or still open. */
function isRead({ start, end }: Spans): boolean {
  return start !== end
}

/**
 * Returns a positive number if `left` is better. An open span counts as longer than a closed one.
 */
function compared(left: readonly Spans[], right: readonly Spans[]): number {
  for (let i = 0; i < left.length && i < right.length; i++) {
    const [x, y] = [left[i], right[i]]
    if (x.start !== y.start) return y.start - x.start
    if (x.end !== y.end) return x.end === Open ? 1 : y.end === Open ? -1 : x.end - y.end
    if (x.name !== y.name) return y.name - x.name
  }
  return left.length - right.length
}

/**
 * Adds a closed span. An empty span counts once at one place: otherwise loops over nothing would
 * never end.
 */
function added(spans: Spans | null, name: number, start: number, end: number): Spans | null {
  if (start === end) {
    for (let span = spans; span !== null && span.start === start; span = span.before) {
      if (span.name === name && span.end === end) return spans
    }
  }
  return linked(spans, name, start, end)
}

function linked(before: Spans | null, name: number, start: number, end: number): Spans {
  return { before, count: (before?.count ?? 0) + 1, name, start, end }
}
