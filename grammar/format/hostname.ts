/**
 * Domain names: labels of letters, digits and inner hyphens, joined by dots, under two bounds (RFC
 * 1034, section 3.5; RFC 1123, section 2.1): 63 characters for a label, and `maxOctets` octets for
 * the name.
 *
 * In an expression the two bounds multiply and every derivative is expensive. In a machine over
 * bytes a state is a handful of counts and its row a dozen ranges. No state is entered from which
 * the name cannot be finished within the bounds: a hyphen and a dot need room for one more
 * character.
 */
import {
  type ByteMachine,
  type ExprId,
  exprs,
  type FreeBytes,
  type MachineTail,
  type TextLengths,
} from "../lexeme/expr/expr.ts"
import { type Utf8Rest, utf8Leads, utf8Tails } from "../lexeme/utf8.ts"
import { ALabels, Ample, labelBytes, NoLabel, PrefixOctets, tailBytes } from "./idn/alabel.ts"
import { OpenName } from "./idn/idnlabel.ts"

export interface DomainRules {
  /** The greatest number of octets of the name, dots included. */
  maxOctets: number
  /** Whether every character beyond ASCII counts as a letter. */
  isWide: boolean
  /**
   * Labels that begin with `xn--`, in either case: allowed like any other, only as A-labels (RFC
   * 5890), or not at all.
   */
  prefixed: "plain" | "decoded" | "none"
}

const MaxLabel = 63
const Dot = 0x2e
/**
 * The first state in an A-label: this number plus the id of the beginning. Lower states are packed
 * places.
 */
const FirstALabel = 2 ** 20

interface Place {
  octets: number
  /** Number of characters of the label so far. */
  label: number
  /** Whether the last character is a hyphen. */
  isHyphen: boolean
  /** The number of characters of `xn-` that the label consists of; 0 if it is something else. */
  prefix: number
  rest: Utf8Rest
}

/** Packs a place into one integer: octets, label (6 bits), hyphen (1), prefix (2), rest (3). */
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
  /** Made when the first label begins with `xn--`. */
  private aLabels: ALabels | undefined
  /** Octets of the name before `xn--` → the beginning after it. */
  private readonly begun = new Map<number, number>()

  constructor(rules: DomainRules) {
    this.rules = rules
  }

  isAccepting(state: number): boolean {
    if (state >= FirstALabel) return (this.aLabels as ALabels).ending(state - FirstALabel) !== null
    const { label, isHyphen, rest } = unpack(state)
    return label > 0 && !isHyphen && rest === 0
  }

  row(state: number): number[] {
    if (state >= FirstALabel) throw new Error("internal: an A-label is read by its tail")
    const { octets, label, isHyphen, prefix, rest } = unpack(state)
    if (rest !== 0) {
      const [low, high, next] = utf8Tails[rest]
      return [low | (high << 8), (state & ~7) | next]
    }
    const { maxOctets, isWide, prefixed } = this.rules
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
      if (prefixed !== "plain" && prefix === 3) {
        const begun = prefixed === "decoded" ? this.begin(octets - label) : NoLabel
        if (begun !== NoLabel) row.push(0x2d | (0x2d << 8), FirstALabel + begun)
      } else if (label + 2 <= MaxLabel) go(0x2d, 0x2d, { isHyphen: true, prefix: prefix === 2 ? 3 : 0 })
      if (!isHyphen) go(Dot, Dot, { label: 0 })
    }
    if (room < 1 || label === MaxLabel) return row
    go(0x30, 0x39, {})
    // Only the letters that continue `xn--` lead to another state than the others.
    const letter = prefixed !== "plain" ? (label === 0 ? 0x18 : prefix === 1 ? 0x0e : 0) : 0
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

  tail(state: number): MachineTail | null {
    if (state < FirstALabel) return null
    const aLabels = this.aLabels as ALabels
    const id = state - FirstALabel
    return {
      bytes: tailBytes,
      next: (byte) => {
        if (byte === Dot) return this.afterALabel(id)
        const next = aLabels.after(id, byte)
        return next === NoLabel ? -1 : FirstALabel + next
      },
    }
  }

  free(state: number): FreeBytes | null {
    if (state < FirstALabel) return null
    return { bytes: labelBytes, room: (this.aLabels as ALabels).free(state - FirstALabel) }
  }

  ending(state: number): readonly number[] | null {
    return state < FirstALabel ? null : (this.aLabels as ALabels).rest(state - FirstALabel)
  }

  /** Returns the beginning of an A-label after this many octets of the name, or `NoLabel`. */
  private begin(octets: number): number {
    let begun = this.begun.get(octets)
    if (begun === undefined) {
      this.aLabels ??= new ALabels()
      const room = Math.min(MaxLabel, this.rules.maxOctets - octets) - PrefixOctets
      begun = this.aLabels.begin(room, OpenName, octets)
      this.begun.set(octets, begun)
    }
    return begun
  }

  private afterALabel(id: number): number {
    const aLabels = this.aLabels as ALabels
    const octets = aLabels.octets(id) + 1
    if (aLabels.ending(id) === null || octets >= this.rules.maxOctets) return -1
    return pack({ octets, label: 0, isHyphen: false, prefix: 0, rest: 0 })
  }

  /**
   * A length of an A-label is known only where the label ends. So A-labels are refused together
   * with a length bound that some names exceed.
   */
  lengths(state: number): TextLengths {
    if (state >= FirstALabel) {
      const aLabels = this.aLabels as ALabels
      const id = state - FirstALabel
      const isEnd = aLabels.ending(id) !== null
      const high = this.rules.maxOctets - aLabels.octets(id)
      return { low: isEnd ? 0 : 1, high, from: isEnd ? 0 : 1, to: 0, givesUp: true }
    }
    const { octets, label, isHyphen } = unpack(state)
    const high = this.rules.maxOctets - octets
    const low = label > 0 && !isHyphen ? 0 : 1
    // Letters and dots fill any length. Only a full label needs a dot and one more character.
    if (label === MaxLabel) return { low, high, from: high < 2 ? 0 : 2, to: high < 2 ? 0 : high }
    return { low, high, from: low, to: high }
  }

  clamp(state: number, maxBytes: number): number {
    if (state >= FirstALabel) return state
    const { octets, label, isHyphen, prefix, rest } = unpack(state)
    // Keeps room for more than is read: a hyphen or a dot at the end needs one more character, and
    // an A-label needs its end.
    const more = this.rules.prefixed === "decoded" ? Ample : 2
    const isFar = (left: number) => left >= maxBytes + more
    return pack({
      octets: isFar(this.rules.maxOctets - octets) ? 0 : octets,
      label: isFar(MaxLabel - label) ? Math.min(label, 1) : label,
      isHyphen,
      prefix,
      rest,
    })
  }
}

/** Returns the domain names by these rules, with at least one label. */
export function domainExpr(rules: DomainRules): ExprId {
  return exprs.machine(new DomainMachine(rules))
}
