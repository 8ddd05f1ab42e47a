/**
 * Memoized patterns, by their source and by the limits that can refuse one. Schemas and grammars
 * repeat the same few patterns, and reading one takes 50 µs and more.
 */
import type { Limits } from "../errors.ts"
import type { ExprId } from "../lexeme/expr/expr.ts"
import { ownText } from "../utf8.ts"

/** Most UTF-16 units of sources that are kept. */
const MaxUnits = 1 << 20

/** The patterns that were read in one way. */
export class KnownPatterns {
  private known = new Map<string, ExprId>()
  private units = 0

  /**
   * Returns the memoized result for `source` under these limits, or else that of `read`, which is
   * kept unless it is null.
   */
  of<Read extends ExprId | null>(source: string, limits: Limits, read: () => Read): ExprId | Read {
    const key = `${limits.regexBytes} ${limits.maxRepeat} ${limits.lookarounds} ${source}`
    const known = this.known.get(key)
    if (known !== undefined) return known
    const made = read()
    if (made === null) return made
    if (this.units + key.length > MaxUnits) this.forget()
    this.known.set(ownText(key), made)
    this.units += key.length
    return made
  }

  forget(): void {
    this.known = new Map()
    this.units = 0
  }
}
