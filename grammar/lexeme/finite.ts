/** Finite languages, spelled out. */
import { type ExprId, exprs } from "./expr.ts"

/** Longer texts make a language count as infinite. */
const MaxBytes = 1_000

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
    const { map, representatives } = exprs.classes(state)
    const targets = representatives.map((byte) => exprs.derivative(state, byte))
    for (let byte = 0; byte < 256; byte++) {
      const target = targets[map[byte]]
      if (exprs.isNever(target)) continue
      path.push(byte)
      if (!visit(target)) return false
      path.pop()
    }
    open.delete(state)
    return true
  }
  if (exprs.isNever(expr)) return []
  if (!visit(expr)) return null
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
  return texts.map((bytes) => decoder.decode(bytes))
}
