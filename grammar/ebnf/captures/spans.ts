/**
 * What one reading of a text has captured so far, and which of two readings is kept.
 *
 * A list of spans in the order of their starts, outer ones before inner ones, linked from the last to the first, so that
 * readings share what they have in common. A span that has begun is open until its end is read. Of two readings that go on alike
 * the better one is that whose first span begins leftmost; then the longer one; then so with the second span, and so on (POSIX's
 * order, over all spans of a text). Empty spans decide last: whatever else a reading reads, they could come as well.
 */

/** Names are numbers, in the order in which they were met. */
export interface Spans {
  readonly before: Spans | null
  /** Spans up to this one. */
  readonly count: number
  readonly name: number
  readonly start: number
  /** `Open`, or where it ended. */
  readonly end: number
}

const Open = -1

/** The lists of one text. */
export class SpanLists {
  /** Spans that were copied or compared. */
  steps = 0

  /** `spans` and one that begins at `start`. */
  opened(spans: Spans | null, name: number, start: number): Spans {
    return linked(spans, name, start, Open)
  }

  /** `spans` with the last open one closed at `end`. O(spans behind it). */
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
      // A rule that is read as itself and nothing else has one span, however often.
      if (each.name !== name || each.start !== start || each.end !== end)
        result = added(result, each.name, each.start, each.end)
    }
    return result
  }

  /** The spans of two texts in a row. O(spans of the second). */
  joined(first: Spans | null, second: Spans | null): Spans | null {
    if (first === null || second === null) return first ?? second
    this.steps += second.count
    let all: Spans | null = first
    for (const { name, start, end } of inOrder(second)) all = added(all, name, start, end)
    return all
  }

  /** Whether a reading with `a` is to be kept instead of one with `b`. O(spans that they do not share). */
  isBetter(a: Spans | null, b: Spans | null): boolean {
    if (a === b) return false
    const shared = sharedBy(a, b)
    const [left, right] = [inOrder(a, shared), inOrder(b, shared)]
    this.steps += left.length + right.length
    const order = compared(left.filter(isRead), right.filter(isRead)) || left.length - right.length
    return (order || compared(left, right)) > 0
  }
}

/** From the first to the last, those behind `until` alone. */
export function inOrder(spans: Spans | null, until: Spans | null = null): Spans[] {
  const list: Spans[] = []
  for (let span = spans; span !== null && span !== until; span = span.before) list.push(span)
  return list.reverse()
}

/** What both lists begin with; null: nothing. */
function sharedBy(a: Spans | null, b: Spans | null): Spans | null {
  let [x, y] = [a, b]
  while (x !== null && y !== null && x !== y) {
    if (x.count >= y.count) x = x.before
    else y = y.before
  }
  return x === y ? x : null
}

/** Whether it is not empty, or not yet. */
function isRead({ start, end }: Spans): boolean {
  return start !== end
}

/** Positive: `left` is better. An open span goes on, so it is longer than one that is closed. */
function compared(left: readonly Spans[], right: readonly Spans[]): number {
  for (let i = 0; i < left.length && i < right.length; i++) {
    const [x, y] = [left[i], right[i]]
    if (x.start !== y.start) return y.start - x.start
    if (x.end !== y.end) return x.end === Open ? 1 : y.end === Open ? -1 : x.end - y.end
    if (x.name !== y.name) return y.name - x.name
  }
  return left.length - right.length
}

/** Adds a closed span; what is empty counts once at one place, or loops over nothing would never end. */
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
