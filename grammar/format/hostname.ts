/**
 * Domain names: labels of letters, digits and inner hyphens, joined by dots, under two bounds (RFC 1034, section 3.5;
 * RFC 1123, section 2.1): 63 characters a label, and so many octets the name.
 *
 * As an expression the two bounds multiply and every derivative is dear; as a machine over bytes a state is a handful
 * of counts and its row a dozen ranges. No state is entered from which the name cannot be finished within the bounds:
 * a hyphen and a dot need room for one character more.
 */
import { type ByteMachine, type ExprId, exprs, type TextLengths } from "../lexeme/expr/expr.ts"
import { type Utf8Rest, utf8Leads, utf8Tails } from "../lexeme/utf8.ts"

export interface DomainRules {
  /** Bound on the name, dots included. */
  maxOctets: number
  /** Every character beyond ASCII counts as a letter. */
  isWide: boolean
  /** No label begins with `xn--`, in any case. */
  refusesALabels: boolean
}

const MaxLabel = 63

interface Place {
  octets: number
  /** Characters of the label so far. */
  label: number
  /** The last one is a hyphen. */
  isHyphen: boolean
  /** How much of `xn-` the label is: 0 when it is something else. */
  prefix: number
  rest: Utf8Rest
}

/** One integer for a place: octets, label (6 bits), hyphen (1), prefix (2), rest (3). */
function pack({ octets, label, isHyphen, prefix, rest }: Place): number {
  return (((octets * 64 + label) * 2 + (isHyphen ? 1 : 0)) * 4 + prefix) * 8 + rest
}

function unpack(state: number): Place {
  return {
    octets: state >>> 12,
    label: (state >>> 6) & 63,
    isHyphen: ((state >>> 5) & 1) === 1,
    prefix: (state >>> 3) & 3,
    rest: (state & 7) as Utf8Rest,
  }
}

class DomainMachine implements ByteMachine {
  readonly start = 0
  private readonly rules: DomainRules

  constructor(rules: DomainRules) {
    this.rules = rules
  }

  isAccepting(state: number): boolean {
    const { label, isHyphen, rest } = unpack(state)
    return label > 0 && !isHyphen && rest === 0
  }

  row(state: number): number[] {
    const { octets, label, isHyphen, prefix, rest } = unpack(state)
    if (rest !== 0) {
      const [low, high, next] = utf8Tails[rest]
      return [low | (high << 8), (state & ~7) | next]
    }
    const { maxOctets, isWide, refusesALabels } = this.rules
    const row: number[] = []
    const room = maxOctets - octets
    const go = (low: number, high: number, place: Partial<Place>) => {
      row.push(
        low | (high << 8),
        pack({ octets: octets + 1, label: label + 1, isHyphen: false, prefix: 0, rest: 0, ...place }),
      )
    }
    const isInLabel = label > 0
    if (isInLabel && room >= 2) {
      if (label + 2 <= MaxLabel && !(refusesALabels && prefix === 3)) {
        go(0x2d, 0x2d, { isHyphen: true, prefix: prefix === 2 ? 3 : 0 })
      }
      if (!isHyphen) go(0x2e, 0x2e, { label: 0 })
    }
    if (room < 1 || label === MaxLabel) return row
    go(0x30, 0x39, {})
    // Only the letters that go on with `xn--` lead elsewhere than the others.
    const letter = refusesALabels ? (label === 0 ? 0x18 : prefix === 1 ? 0x0e : 0) : 0
    for (const base of [0x40, 0x60]) {
      if (letter === 0) {
        go(base + 1, base + 26, {})
        continue
      }
      go(base + 1, base + letter - 1, {})
      go(base + letter, base + letter, { prefix: prefix + 1 })
      go(base + letter + 1, base + 26, {})
    }
    if (!isWide) return row
    for (const [low, high, size, tail] of utf8Leads) {
      if (room >= size) go(low, high, { octets: octets + size, rest: tail })
    }
    return row
  }

  lengths(state: number): TextLengths {
    const { octets, label, isHyphen } = unpack(state)
    const high = this.rules.maxOctets - octets
    const low = label > 0 && !isHyphen ? 0 : 1
    // Letters and dots fill any length; only a full label asks for a dot and one more.
    if (label === MaxLabel) return { low, high, from: high < 2 ? 0 : 2, to: high < 2 ? 0 : high }
    return { low, high, from: low, to: high }
  }

  clamp(state: number, maxBytes: number): number {
    const { octets, label, isHyphen, prefix, rest } = unpack(state)
    // One character more than is read: a hyphen or dot at the end asks for it.
    const isFar = (left: number) => left >= maxBytes + 2
    return pack({
      octets: isFar(this.rules.maxOctets - octets) ? 0 : octets,
      label: isFar(MaxLabel - label) ? Math.min(label, 1) : label,
      isHyphen,
      prefix,
      rest,
    })
  }
}

/** Domain names by these rules; at least one label. */
export function domainExpr(rules: DomainRules): ExprId {
  return exprs.machine(new DomainMachine(rules))
}
