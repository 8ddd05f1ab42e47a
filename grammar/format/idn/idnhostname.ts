/**
 * `idn-hostname`: names of labels that are ASCII, U-labels or A-labels, as a machine over bytes.
 * `idnlabel.ts` has the rules of a label, and `alabel.ts` reads A-labels. This file turns them into
 * states, and characters into their bytes.
 *
 * No state is entered that cannot be finished: whatever a label waits for, one of a few *witnesses*
 * supplies it.
 */
import { PairMap, TupleTable } from "../../intern.ts"
import {
  type ByteMachine,
  type ExprId,
  exprs,
  type FreeBytes,
  type MachineTail,
  type TextLengths,
} from "../../lexeme/expr/expr.ts"
import { ALabels, labelBytes, NoLabel, PrefixOctets, tailBytes } from "./alabel.ts"
import { type CharacterClass, type Idna, idna, Prefix, Special } from "./idna.ts"
import { afterLabel, freshLabel, isWhole, type Label, MaxLabel, MaxName, step } from "./idnlabel.ts"

/**
 * `l`, and a Greek, a Hebrew, an Arabic, a Japanese and a Mongolian letter. One of them, or three
 * in a row, complete every label that can be completed.
 */
const witnesses = [0x6c, 0x3b1, 0x5d0, 0x628, 0x304b, 0x1820]
const MaxWitnesses = 3

const Dead = -1
/** Value in `labels` of a state in an A-label. */
const Prefixed = undefined
/** First bytes of the separators beyond ASCII: U+3002, U+FF0E and U+FF61. */
const separatorLeads: readonly number[] = [0xe3, 0xef]

class IdnHostnameMachine implements ByteMachine {
  readonly start: number
  private readonly idna: Idna = idna()
  private readonly aLabels = new ALabels()
  /**
   * [-1, facts …] between characters; [-2, id of the beginning] in an A-label; [state, base, bytes,
   * least] inside a character: code points from `base` and `least` on, with the number of bytes to
   * come.
   */
  private readonly places = new TupleTable()
  private readonly key = new Int32Array(9)
  /** Null inside a character, `Prefixed` in an A-label. */
  private readonly labels: (Label | null | undefined)[] = []
  /** (state, class) → state + 1; 0: dead. */
  private readonly next = new PairMap()
  private readonly witnessIds: readonly number[]
  /** Shape [states]: 0 not known, 1 dead, 2 live. */
  private readonly verdicts: number[] = []

  private readonly readsALabels: boolean

  constructor(readsALabels: boolean) {
    this.readsALabels = readsALabels
    this.witnessIds = witnesses.map((point) => this.idna.classOf(point))
    this.start = this.intern(freshLabel)
  }

  isAccepting(state: number): boolean {
    const label = this.labels[state]
    if (label === Prefixed) return this.aLabels.ending(this.beginningOf(state)) !== null
    return label !== null && isWhole(label)
  }

  row(state: number): number[] {
    const row: number[] = []
    const label = this.labels[state]
    if (label === Prefixed) throw new Error("internal: an A-label is read by its tail")
    if (label === null) {
      const [from, base, more, least] = this.places.view(state)
      const size = 64 ** (more - 1)
      for (let byte = 0x80; byte <= 0xbf; byte++) {
        this.addBlock(row, byte, from, { base: base + (byte - 0x80) * size, more: more - 1, least: least })
      }
      return row
    }
    for (let byte = 0x2d; byte <= 0x7a; byte++)
      this.addBlock(row, byte, state, { base: byte, more: 0, least: 0 })
    for (let byte = 0xc2; byte <= 0xdf; byte++)
      this.addBlock(row, byte, state, { base: (byte & 0x1f) << 6, more: 1, least: 0x80 })
    for (let byte = 0xe0; byte <= 0xef; byte++)
      this.addBlock(row, byte, state, { base: (byte & 0x0f) << 12, more: 2, least: 0x800 })
    for (let byte = 0xf0; byte <= 0xf4; byte++)
      this.addBlock(row, byte, state, { base: (byte & 0x07) << 18, more: 3, least: 0x10000 })
    return row
  }

  tail(state: number): MachineTail | null {
    if (this.labels[state] !== Prefixed) return null
    return {
      bytes: [...tailBytes, ...separatorLeads],
      next: (byte) => {
        if (byte === 0x2e) return this.afterALabel(state)
        if (byte >= 0x80) {
          const row: number[] = []
          this.addBlock(row, byte, state, { base: (byte & 0x0f) << 12, more: 2, least: 0x800 })
          return row.length === 0 ? Dead : row[1]
        }
        const next = this.aLabels.after(this.beginningOf(state), byte)
        return next === NoLabel ? Dead : this.prefixed(next)
      },
    }
  }

  free(state: number): FreeBytes | null {
    if (this.labels[state] !== Prefixed) return null
    return { bytes: labelBytes, room: this.aLabels.free(this.beginningOf(state)) }
  }

  ending(state: number): readonly number[] | null {
    return this.labels[state] === Prefixed ? this.aLabels.rest(this.beginningOf(state)) : null
  }

  private beginningOf(state: number): number {
    return this.places.at(state, 1)
  }

  private prefixed(beginning: number): number {
    const id = this.places.intern([-2, beginning])
    this.labels[id] = Prefixed
    return id
  }

  /** Returns the state after a separator behind an A-label, or `Dead`. */
  private afterALabel(state: number): number {
    const beginning = this.beginningOf(state)
    const ending = this.aLabels.ending(beginning)
    const label = ending === null ? null : afterLabel(ending, this.aLabels.octets(beginning))
    return label === null ? Dead : this.live(label)
  }

  /**
   * Returns the state after `xn--`, or `Dead`. `label` has read everything except the last hyphen.
   */
  private begun({ total, name }: Label): number {
    const room = Math.min(MaxLabel, MaxName - total) - PrefixOctets
    const begun = this.aLabels.begin(room, name, total)
    return begun === NoLabel ? Dead : this.prefixed(begun)
  }

  /**
   * A name can end after the least number of witnesses that complete it, and after more of them as
   * long as they fit. Each state finds the rest again from the state after the first of them, so no
   * state is a dead end.
   */
  lengths(state: number): TextLengths {
    const label = this.labels[state]
    if (label === Prefixed) {
      // In an A-label, a length is known only where the label ends.
      const isEnd = this.isAccepting(state)
      const high = MaxName - this.aLabels.octets(this.beginningOf(state))
      return { low: isEnd ? 0 : 1, high, from: isEnd ? 0 : 1, to: 0, givesUp: true }
    }
    if (label === null) {
      const [from, base, more, least] = this.places.view(state)
      const before = this.labels[from]
      const high =
        before === Prefixed
          ? MaxName - this.aLabels.octets(this.beginningOf(from)) - 1
          : MaxName - (before as Label).total - (before as Label).basic - (before as Label).wide - 1
      const after = this.firstAfter(from, Math.max(base, least), base + 64 ** more)
      return { ...this.lengths(after), low: 0, high }
    }
    const end = this.shortestEnd(label)
    let to = end.steps
    for (let next = this.longer(end.label); next !== null; next = this.longer(next)) to++
    const low = end.steps === 0 ? 0 : 1
    return { low, high: MaxName - label.total - label.basic - label.wide, from: end.steps, to, givesUp: true }
  }

  /** Returns the label that ends after the least number of witnesses. */
  private shortestEnd(label: Label): { label: Label; steps: number } {
    let labels = [label]
    for (let steps = 0; steps <= MaxWitnesses; steps++) {
      const whole = labels.find(isWhole)
      if (whole !== undefined) return { label: whole, steps }
      labels = labels.flatMap((one) => this.witnessed(one))
    }
    throw new Error("internal: a name without an end")
  }

  private longer(label: Label): Label | null {
    return this.witnessed(label).find(isWhole) ?? null
  }

  private witnessed(label: Label): Label[] {
    return this.witnessIds.flatMap((id) => step(label, this.idna.classes[id], this.idna) ?? [])
  }

  /**
   * Adds the edge by `byte` to the characters from `base` on, with `more` bytes to follow, if one
   * of them continues from `state`. Below `least` the form is overlong.
   */
  private addBlock(
    row: number[],
    byte: number,
    state: number,
    { base, more, least }: { base: number; more: number; least: number },
  ): void {
    const target = this.firstAfter(state, Math.max(base, least), base + 64 ** more)
    if (target === Dead) return
    row.push(byte | (byte << 8), more === 0 ? target : this.inside(state, base, more, least))
  }

  /**
   * Returns the state after the first code point in `start..end` (half-open) that may come, or
   * `Dead`.
   */
  private firstAfter(state: number, start: number, end: number): number {
    const { starts, ids } = this.idna
    for (let run = this.idna.runOf(start); run < starts.length && starts[run] < end; run++) {
      const target = ids[run] < 0 ? Dead : this.after(state, ids[run])
      if (target !== Dead) return target
    }
    return Dead
  }

  /**
   * Returns the state after a character of the class, or `Dead` if the name could not be finished.
   */
  private after(state: number, classId: number): number {
    const known = this.next.get(state, classId)
    if (known >= 0) return known - 1
    const target = this.made(state, this.idna.classes[classId])
    this.next.set(state, classId, target + 1)
    return target
  }

  private made(state: number, character: CharacterClass): number {
    const label = this.labels[state]
    if (label === Prefixed) return character.special === Special.Separator ? this.afterALabel(state) : Dead
    const isPrefix = label?.prefix === Prefix.Hyphen && character.special === Special.Hyphen
    if (isPrefix) return this.readsALabels ? this.begun(label) : Dead
    const next = step(label as Label, character, this.idna)
    return next === null ? Dead : this.live(next)
  }

  /** Returns the state of these facts, or `Dead` if the name cannot be finished. */
  private live(label: Label): number {
    const state = this.intern(label)
    return this.isLive(state) ? state : Dead
  }

  private isLive(state: number): boolean {
    this.verdicts[state] ||= this.canEnd(this.labels[state] as Label, MaxWitnesses) ? 2 : 1
    return this.verdicts[state] === 2
  }

  private canEnd(label: Label, steps: number): boolean {
    if (isWhole(label)) return true
    if (steps === 0) return false
    return this.witnessIds.some((id) => {
      const further = step(label, this.idna.classes[id], this.idna)
      return further !== null && this.canEnd(further, steps - 1)
    })
  }

  private intern(label: Label): number {
    const { key } = this
    key[0] = -1
    key[1] = label.total
    key[2] = label.basic
    key[3] = label.wide
    key[4] = label.zone
    key[5] =
      (label.hasCapital ? 1 : 0) |
      (label.isHyphen ? 2 : 0) |
      (label.isL ? 4 : 0) |
      (label.isVirama ? 8 : 0) |
      (label.isHebrew ? 16 : 0) |
      (label.joinsLeft ? 32 : 0) |
      (label.mayEnd ? 64 : 0) |
      (label.hasEuropean ? 128 : 0) |
      (label.hasArabic ? 256 : 0) |
      (label.prefix << 9)
    key[6] =
      label.name | (label.waitsFor << 2) | (label.dot << 4) | (label.direction << 6) | (label.digits << 8)
    key[7] = label.compositions
    key[8] = label.rank
    const id = this.places.intern(key)
    // The tuple may be known without its label, if this method threw an error the first time.
    this.labels[id] ??= label
    return id
  }

  private inside(state: number, base: number, more: number, least: number): number {
    const id = this.places.intern([state, base, more, least])
    this.labels[id] = null
    return id
  }
}

/** Returns the names described above, with or without A-labels. */
export function idnHostnameExpr(readsALabels: boolean): ExprId {
  return exprs.machine(new IdnHostnameMachine(readsALabels))
}
