/**
 * The format `regex`: texts that are ECMAScript patterns, read with the `u` grammar.
 *
 * Groups nest and references count them, so the language is not regular. It is a machine whose
 * states are parser configurations: the place in the grammar, the open groups, the number of groups
 * so far and needed, and the names declared and needed. From every configuration the pattern can be
 * finished, because missing groups can be appended. The format is stricter than the grammar in a
 * few corners, so that every text is a pattern for engines since ES2018: no modifiers `(?i:…)`, no
 * name twice, no escapes in names, no reference above 99, and no escaped surrogates in a class.
 */
import { PairMap } from "../../intern.ts"
import {
  type CharacterMachine,
  type ExprId,
  exprs,
  type FreeBytes,
  type MachineEdge,
  type MachineTail,
  type TextLengths,
} from "../../lexeme/expr/expr.ts"
import {
  afterCharacterByte,
  appended,
  bracedEdges,
  CommonLeft,
  characterBytes,
  classAt,
  classEdges,
  escapeEdges,
  finish,
  type Go,
  hexEdges,
  isLess,
  leadEdges,
  nameEdges,
  type Place,
  points,
  quantified,
  type Seen,
  SetLeft,
  term,
  termEdges,
} from "./patternplaces.ts"
import { fewestLeft } from "./patternrest.ts"
import { propertyExpressions } from "./properties.ts"

interface Configuration {
  place: Place
  seen: Seen
  /** Equal for equal `seen`. */
  seenId: number
}

const Unbounded = 0x7fffffff

/**
 * Atoms of a class, including `^`, which may come first. The quote is excluded because JSON escapes
 * it.
 */
const classBytes = Array.from({ length: 0x7f - 0x20 }, (_, i) => 0x20 + i).filter(
  (byte) => !']\\-"'.includes(String.fromCharCode(byte)),
)

/** Creates configurations when an edge leads to them. */
class PatternMachine implements CharacterMachine {
  readonly start: number
  private readonly configurations: Configuration[] = []
  private readonly ids = new Map<string, number>()
  /** Places in a class between two atoms, by (seen, left). */
  private readonly classIds = new PairMap()
  private readonly seenIds = new Map<string, number>()
  private properties: ReadonlySet<string> | undefined

  constructor() {
    this.start = this.intern(term(false), { stack: "", groups: 0, needed: 0, names: [], missing: [] })
  }

  isAccepting(state: number): boolean {
    const { place, seen } = this.configurations[state]
    if (place.at !== "term" || seen.stack !== "" || seen.missing.length > 0) return false
    return Math.max(seen.needed, place.reference) <= seen.groups
  }

  edges(state: number): MachineEdge[] {
    const { place, seen, seenId } = this.configurations[state]
    const edges: MachineEdge[] = []
    const go: Go = (chars, next, change) => {
      const ranges = typeof chars === "string" ? points(chars) : chars
      if (ranges.length === 0) return
      const id =
        change === undefined ? this.internAs(next, seen, seenId) : this.intern(next, { ...seen, ...change })
      edges.push({ set: exprs.codePoints(ranges), next: id })
    }
    const goByte = (byte: number, next: Place) => {
      edges.push({ set: exprs.byteRange(byte, byte), next: this.internAs(next, seen, seenId) })
    }
    this.edgesAt(place, seen, go)
    if (place.at === "angle") leadEdges({ at: "name", name: "", isGroup: true }, goByte)
    else if (place.at === "name") leadEdges(place, goByte)
    else if (place.at === "class" && (place.isFirst || place.afterZero || place.left === CommonLeft)) {
      leadEdges(classAt(CommonLeft), goByte)
    }
    return edges
  }

  tail(state: number): MachineTail | null {
    const { place, seen, seenId } = this.configurations[state]
    if (place.at !== "character") return null
    return {
      bytes: characterBytes(place),
      next: (byte) => this.internAs(afterCharacterByte(place, byte), seen, seenId),
    }
  }

  /**
   * All states of a class share the characters and escapes; they differ in the meaning of a dash.
   */
  base(state: number): number {
    const { place, seen, seenId } = this.configurations[state]
    if (place.at !== "class" || place.dash || place.isFirst || place.afterZero || place.left === CommonLeft)
      return -1
    return this.internAs(classAt(CommonLeft), seen, seenId)
  }

  /**
   * A state in a class remembers the last character, since a dash may follow. Most tokens have
   * none.
   */
  free(state: number): FreeBytes | null {
    const { place } = this.configurations[state]
    if (place.at !== "class" || place.dash || place.afterZero) return null
    return { bytes: classBytes, room: Unbounded, isWide: true }
  }

  /**
   * A complete pattern may continue with any letters. Another pattern is known to end only after
   * its closing parentheses.
   */
  lengths(state: number): TextLengths {
    const { place, seen } = this.configurations[state]
    const low = fewestLeft(place, seen)
    const isClosable =
      place.at === "term" &&
      seen.missing.length === 0 &&
      Math.max(seen.needed, place.reference) <= seen.groups
    const from = seen.stack.length
    return isClosable
      ? { low, high: Unbounded, from, to: Unbounded, isEndless: true }
      : { low, high: Unbounded, from: 1, to: 0, isEndless: true }
  }

  private edgesAt(place: Place, seen: Seen, go: Go) {
    switch (place.at) {
      case "term":
        return termEdges(place, seen, go)
      case "least":
        for (const digit of "0123456789") go(digit, { at: "least", digits: appended(place.digits, digit) })
        if (place.digits === "") return
        go(",", { at: "most", least: place.digits, digits: "" })
        return go("}", quantified)
      case "most":
        for (const digit of "0123456789") go(digit, { ...place, digits: appended(place.digits, digit) })
        if (place.digits === "" || !isLess(place.digits, place.least)) go("}", quantified)
        return
      case "open": {
        const opened = { stack: `${seen.stack}g`, groups: seen.groups + 1 }
        go("?", { at: "special" })
        return termEdges(term(false), { ...seen, ...opened }, (chars, next, change) =>
          go(chars, next, { ...opened, ...change }),
        )
      }
      case "special":
        go(":", term(false), { stack: `${seen.stack}g` })
        go("=!", term(false), { stack: `${seen.stack}a` })
        return go("<", { at: "angle" })
      case "angle":
        go("=!", term(false), { stack: `${seen.stack}a` })
        return nameEdges({ at: "name", name: "", isGroup: true }, seen, go)
      case "reference":
        return go("<", { at: "name", name: "", isGroup: false })
      case "name":
        return nameEdges(place, seen, go)
      case "class":
        return classEdges(place, go)
      case "escape":
        return escapeEdges(place.inside, go)
      case "control":
        for (const letter of "ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
          finish(place.inside, letter.charCodeAt(0) - 64, letter + letter.toLowerCase(), go)
        }
        return
      case "hex":
        return hexEdges(place, go)
      case "unicode":
        go("{", { at: "braced", inside: place.inside, digits: "", isEmpty: true })
        return hexEdges({ at: "hex", inside: place.inside, digits: "", length: 4 }, go)
      case "braced":
        return bracedEdges(place, go)
      case "property":
        return this.propertyEdges(place, go)
    }
  }

  private propertyEdges({ inside, text }: Extract<Place, { at: "property" }>, go: Go) {
    if (text === "") return go("{", { at: "property", inside, text: "{" })
    if (this.properties === undefined) {
      const prefixes = new Set<string>()
      for (const expression of propertyExpressions()) {
        const whole = `{${expression}}`
        for (let end = 1; end <= whole.length; end++) prefixes.add(whole.slice(0, end))
      }
      this.properties = prefixes
    }
    for (const letter of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_=") {
      if (this.properties.has(text + letter)) go(letter, { at: "property", inside, text: text + letter })
    }
    if (this.properties.has(`${text}}`)) go("}", inside === null ? term(true) : classAt(SetLeft))
  }

  private intern(place: Place, seen: Seen): number {
    const key = `${seen.stack} ${seen.groups} ${seen.needed} ${seen.names.join()} ${seen.missing.join()}`
    let seenId = this.seenIds.get(key)
    if (seenId === undefined) {
      seenId = this.seenIds.size
      this.seenIds.set(key, seenId)
    }
    return this.internAs(place, seen, seenId)
  }

  private internAs(place: Place, seen: Seen, seenId: number): number {
    // Every character may begin a range, so these are by far the most frequent.
    if (place.at === "class" && !place.dash && !place.isFirst && !place.afterZero) {
      const known = this.classIds.get(seenId, place.left - CommonLeft)
      if (known >= 0) return known
      const id = this.configurations.push({ place, seen, seenId }) - 1
      this.classIds.set(seenId, place.left - CommonLeft, id)
      return id
    }
    const key = `${seenId} ${placeKey(place)}`
    let id = this.ids.get(key)
    if (id === undefined) {
      id = this.configurations.push({ place, seen, seenId }) - 1
      this.ids.set(key, id)
    }
    return id
  }
}

function placeKey(place: Place): string {
  let key = ""
  for (const value of Object.values(place)) {
    key += value !== null && typeof value === "object" ? `(${placeKey(value as Place)})` : `${value},`
  }
  return key
}

/** Returns the texts that are patterns. */
export function patternFormat(): ExprId {
  return exprs.machine(new PatternMachine())
}
