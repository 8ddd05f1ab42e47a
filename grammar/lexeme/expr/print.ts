/** Expressions as text, for people and tests. */
import {
  AndKind,
  at,
  BehindKind,
  ConcatKind,
  DiffKind,
  Empty,
  EmptyKind,
  EndKind,
  type ExprId,
  kindOf,
  LookKind,
  LoopKind,
  length,
  MachineKind,
  members,
  Never,
  NeverKind,
  OrKind,
  ScopeKind,
  SetKind,
  Unbounded,
} from "./nodes.ts"
import { anyChar } from "./sets.ts"

/**
 * Returns the text of `id`: bytes that are not printable in hexadecimal, `&`, `~` and `{m,n}` as
 * usual.
 */
export function printExpr(id: ExprId): string {
  switch (kindOf(id)) {
    case NeverKind:
      return "∅"
    case EmptyKind:
      return "ε"
    case SetKind:
      return printSet(id)
    case ConcatKind:
      return `${nested(at(id, 1))}${at(id, 2) === Empty ? "" : nested(at(id, 2))}`
    case OrKind:
      return `(${members(id).map(printExpr).join("|")})`
    case AndKind:
      return `(${members(id).map(printExpr).join("&")})`
    case DiffKind:
      return `~${nested(at(id, 2))}`
    case LoopKind: {
      const [min, max] = [at(id, 2), at(id, 3)]
      const count = max === Unbounded ? (min === 0 ? "*" : min === 1 ? "+" : `{${min},}`) : `{${min},${max}}`
      return `${nested(at(id, 1))}${count}`
    }
    case LookKind:
      return `(?${at(id, 2) ? "!" : "="}${printExpr(at(id, 1))})`
    case BehindKind:
      return `(?<${at(id, 2) ? "!" : "="}${printExpr(at(id, 1))})`
    case EndKind:
      return "$"
    case ScopeKind:
      return `(?:${printExpr(at(id, 1))})`
    case MachineKind:
      return `<machine ${at(id, 1)}:${at(id, 2)}>`
    default:
      throw new Error(`internal: expression ${id} has no kind`)
  }
}

function nested(id: ExprId): string {
  const text = printExpr(id)
  const kind = kindOf(id)
  return kind === ConcatKind || (kind === LoopKind && id !== Never)
    ? kind === ConcatKind
      ? `(?:${text})`
      : text
    : text
}

function printSet(id: ExprId): string {
  if (id === anyChar) return "."
  const parts: string[] = []
  for (let i = 1; i < length(id); i += 2) {
    const [lo, hi, next] = [at(id, i) & 0xff, at(id, i) >>> 8, at(id, i + 1)]
    const bytes = lo === hi ? printByte(lo) : `${printByte(lo)}-${printByte(hi)}`
    parts.push(next === Empty ? bytes : `${bytes}${printSet(next)}`)
  }
  return parts.length === 1 && parts[0].length === 1 ? parts[0] : `[${parts.join(" ")}]`
}

function printByte(byte: number): string {
  return byte > 0x20 && byte < 0x7f ? String.fromCharCode(byte) : byte.toString(16).padStart(2, "0")
}
