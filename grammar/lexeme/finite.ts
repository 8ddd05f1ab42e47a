/** Expressions and whole texts: membership, and finite languages spelled out. */
import { type ExprId, exprs } from "./expr.ts"

/** Longer texts make a language count as infinite. */
const MaxBytes = 1_000

/** Expression → a count that its texts are known to exceed. */
const tooMany = new Map<ExprId, number>()

/**
 * The texts of `expr` in byte order, or null when there are infinitely many or more than `maxCount`.
 * A live state that can reach itself makes the language infinite; otherwise every path is walked once.
 */
export function finiteTexts(expr: ExprId, maxCount: number): string[] | null {
  const texts: Uint8Array[] = []
  const path: number[] = []
  const open = new Set<ExprId>()
  // More paths than texts can only come from bytes inside a character: at most four a character.
  let steps = 0
  const visit = (state: ExprId): boolean => {
    if (open.has(state) || path.length > MaxBytes || ++steps > 64 * maxCount + 4096) return false
    if (exprs.nullable(state) && texts.push(Uint8Array.from(path)) > maxCount) return false
    open.add(state)
    const ranges = Array.from(exprs.row(state))
    for (let i = 0; i < ranges.length; i += 2) {
      if (exprs.isNever(ranges[i + 1])) continue
      for (let byte = ranges[i] & 0xff; byte <= ranges[i] >>> 8; byte++) {
        path.push(byte)
        if (!visit(ranges[i + 1])) return false
        path.pop()
      }
    }
    open.delete(state)
    return true
  }
  if (exprs.isNever(expr)) return []
  if (maxCount <= (tooMany.get(expr) ?? -1)) return null
  if (!visit(expr)) {
    tooMany.set(expr, maxCount)
    return null
  }
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
  return texts.map((bytes) => decoder.decode(bytes))
}

const encoder = new TextEncoder()

/** Whether `expr` accepts `text`. Half surrogate pairs are in no language. */
export function matchesText(expr: ExprId, text: string): boolean {
  if (!text.isWellFormed()) return false
  let rest = expr
  for (const byte of encoder.encode(text)) rest = exprs.derivative(rest, byte)
  return exprs.nullable(rest)
}
