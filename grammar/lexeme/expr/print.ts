/** Expressions as text, for people and tests. */
import { at, Empty, type ExprId, Kind, kindOf, length, members, Never, Unbounded } from "./nodes.ts"
import { anyChar } from "./sets.ts"

/**
 * Returns the text of `id`: bytes that are not printable in hexadecimal, `&`, `~` and `{m,n}` as
 * usual.
 */
export function printExpr(id: ExprId): string {
  switch (kindOf(id)) {
    case Kind.Never:
      return "∅"
    case Kind.Empty:
      return "ε"
    case Kind.Set:
      return printSet(id)
    case Kind.Concat:
      return `${nested(at(id, 1))}${at(id, 2) === Empty ? "" : nested(at(id, 2))}`
    case Kind.Or:
      return `(${members(id).map(printExpr).join("|")})`
    case Kind.And:
      return `(${members(id).map(printExpr).join("&")})`
    case Kind.Diff:
      return `~${nested(at(id, 2))}`
    case Kind.Loop: {
      const [min, max] = [at(id, 2), at(id, 3)]
      const count = max === Unbounded ? (min === 0 ? "*" : min === 1 ? "+" : `{${min},}`) : `{${min},${max}}`
      return `${nested(at(id, 1))}${count}`
    }
    case Kind.Look:
      return `(?${at(id, 2) ? "!" : "="}${printExpr(at(id, 1))})`
    case Kind.Behind:
      return `(?<${at(id, 2) ? "!" : "="}${printExpr(at(id, 1))})`
    case Kind.End:
      return "$"
    case Kind.Scope:
      return `(?:${printExpr(at(id, 1))})`
    case Kind.Machine:
      return `<machine ${at(id, 1)}:${at(id, 2)}>`
    default:
      throw new Error(`internal: expression ${id} has no kind`)
  }
}

function nested(id: ExprId): string {
  const text = printExpr(id)
  const kind = kindOf(id)
  return kind === Kind.Concat || (kind === Kind.Loop && id !== Never)
    ? kind === Kind.Concat
      ? `(?:${text})`
      : text
    : text
}

function printSet(id: ExprId): string {
  if (id === anyChar) return "."
  const parts: string[] = []
  for (let i = 1; i < length(id); i += 2) {
    const [lo, hi, next] = [at(id, i) & 0xff, at(id, i) >>> 8, at(id, i + 1)]
    const bytes = printBytes(lo, hi)
    parts.push(next === Empty ? bytes : `${bytes}${printSet(next)}`)
  }
  return parts.length === 1 && parts[0].length === 1 ? parts[0] : `[${parts.join(" ")}]`
}

/** Returns the bytes from `low` to `high`: `a-z`, or one byte alone. */
export function printBytes(low: number, high: number): string {
  return low === high ? printByte(low) : `${printByte(low)}-${printByte(high)}`
}

/** Returns an ASCII character, or a byte in hexadecimal. */
function printByte(byte: number): string {
  return byte > 0x20 && byte < 0x7f ? String.fromCharCode(byte) : byte.toString(16).padStart(2, "0")
}
