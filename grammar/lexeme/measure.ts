/**
 * What can be read off an expression without deriving it: its text form, and its key for a bounded number of bytes.
 */
import { concat, loop, members, or } from "./build.ts"
import { clampedMachine } from "./machine.ts"
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
  Never,
  NeverKind,
  OrKind,
  ScopeKind,
  SetKind,
  Unbounded,
} from "./nodes.ts"
import { anyChar } from "./sets.ts"

/**
 * An expression that no text of at most `bound` bytes can tell from `id`: a token runs through no more than `bound`
 * iterations, so larger counts are clamped to `bound` + 1 and larger upper bounds dropped. Not inside intersections,
 * complements and assertions, where what is still possible may depend on the exact count.
 */
export function clamped(id: ExprId, bound: number): ExprId {
  switch (kindOf(id)) {
    case ConcatKind: {
      // Long literals are long chains: down the tails and back up without recursion.
      const chain: ExprId[] = []
      let last = id
      for (; kindOf(last) === ConcatKind; last = at(last, 2)) chain.push(last)
      let made = clamped(last, bound)
      for (const link of chain.reverse()) {
        const head = clamped(at(link, 1), bound)
        made = head === at(link, 1) && made === at(link, 2) ? link : concat(head, made)
      }
      return made
    }
    case OrKind: {
      const parts = members(id)
      const clampedParts = parts.map((part) => clamped(part, bound))
      return clampedParts.every((part, i) => part === parts[i]) ? id : or(clampedParts)
    }
    case LoopKind: {
      const [body, min, max] = [at(id, 1), at(id, 2), at(id, 3)]
      const inner = clamped(body, bound)
      const least = Math.min(min, bound + 1)
      const most = max > bound ? Unbounded : max
      return inner === body && least === min && most === max ? id : loop(inner, least, most)
    }
    case MachineKind:
      return clampedMachine(id, bound)
    default:
      return id
  }
}

/** Text form of `id`: bytes in hexadecimal where they are not printable, `&`, `~` and `{m,n}` as usual. */
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
