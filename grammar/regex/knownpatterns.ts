/**
 * Patterns that were read, by their source and the limits that refuse some: schemas and grammars write the same few again and again,
 * and reading one takes 50 µs and more.
 */
import type { Limits } from "../errors.ts"
import type { ExprId } from "../lexeme/expr/expr.ts"
import { ownText } from "../utf8.ts"

/** UTF-16 units of sources that are kept. */
const MaxUnits = 1 << 20

/** For one way to read patterns. */
export class KnownPatterns {
  private readonly known = new Map<string, ExprId>()
  private units = 0

  /** What `source` was read as under these limits. Else what `read` answers, which is kept unless it is null. */
  of<Read extends ExprId | null>(source: string, limits: Limits, read: () => Read): ExprId | Read {
    const key = `${limits.regexBytes} ${limits.maxRepeat} ${limits.lookarounds} ${source}`
    const known = this.known.get(key)
    if (known !== undefined) return known
    const made = read()
    if (made === null) return made
    if (this.units + key.length > MaxUnits) {
      this.known.clear()
      this.units = 0
    }
    this.known.set(ownText(key), made)
    this.units += key.length
    return made
  }
}
