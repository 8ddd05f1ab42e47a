/**
 * The object frame: which keys may come next, what their values must be, and when the object may close.
 *
 * State: names seen, keys of the open classes seen (by name, because a key may not repeat), number of keys, obligations
 * that are still unmet. A name is offered only if its value has a value and the rest of the object can still be finished,
 * so no dead end is ever entered. With `order: "schema"` named keys come in order of first mention, then the classes.
 */
import type { Expectation, Step } from "../frame.ts"
import { Frame } from "../frame.ts"
import { TupleTable } from "../intern.ts"
import { ExcludedTag, NoContent, namesContent } from "../lexeme/content.ts"
import { buildNames, NoNames, withName } from "../lexeme/names.ts"
import { stringLexeme } from "../lexeme/string.ts"
import { Dead } from "../lexeme/table.ts"
import type { JsonLanguage } from "./language.ts"
import type { KeyClass, ObjectSpec } from "./objectspec.ts"
import type { Lookup } from "./satisfiable.ts"
import { compareNames } from "./value.ts"

/** Tag of declared name i of a spec: a number of its own per distinct name, the same in all schemas. */
const FirstNameTag = 3
const nameTags = new Map<string, number>()

function tagOfName(name: string): number {
  let tag = nameTags.get(name)
  if (tag === undefined) {
    tag = FirstNameTag + nameTags.size
    nameTags.set(name, tag)
  }
  return tag
}

/** Where the reader is within the object. */
const Phase = { Start: 0, Key: 1, Colon: 2, Value: 3, Comma: 4 } as const

/** What is known of the keys so far. */
interface Progress {
  /** Bit i: declared name i has been read. Shape [ceil(names / 32)]. */
  readonly seen: Int32Array
  /** Interned list of the other keys read, or `UnknownKeys`. */
  readonly others: number
  readonly count: number
  /** Bit set of obligations that are not met yet. */
  readonly unmet: number
  /** Order "schema": first declared name that is still ahead. */
  readonly next: number
  readonly requiredCount: number
}

/** One of the other keys is not known: masks ask what follows before the key's text is there. */
const UnknownKeys = -1

/** A spec bound to a language, with the names that can be offered. */
export class ObjectLanguage {
  readonly spec: ObjectSpec
  readonly language: JsonLanguage
  readonly path: string
  private readonly indexOf = new Map<number, number>()
  private readonly classes: readonly KeyClass[]
  private readonly frames = new Map<number, ObjectFrame>()
  private readonly frameKeys = new TupleTable()
  /** Names of other keys by id, and interned lists of them. */
  private readonly otherIds = new Map<string, number>()
  private readonly otherNames: Uint8Array[] = []
  private readonly otherLists = new TupleTable()
  private readonly isOffered: boolean[]
  private readonly ordered: boolean
  private allExcluded = -1

  constructor(spec: ObjectSpec, language: JsonLanguage, path: string) {
    this.spec = spec
    this.language = language
    this.path = path
    this.ordered = language.policy.order === "schema"
    this.otherLists.intern([])
    for (const [index, { name }] of spec.names.entries()) this.indexOf.set(tagOfName(name), index)
    this.isOffered = spec.names.map(({ name, value }) => name.isWellFormed() && language.isProductive(value))
    this.classes = spec.classes.filter(({ value }) => language.isProductive(value))
  }

  start(): Frame {
    return this.frame(Phase.Start, this.fresh(), 0)
  }

  private fresh(): Progress {
    const { names, obligations } = this.spec
    return {
      seen: new Int32Array((names.length + 31) >>> 5),
      others: 0,
      count: 0,
      unmet: (1 << obligations.length) - 1,
      next: 0,
      requiredCount: names.filter(({ isRequired }) => isRequired).length,
    }
  }

  /** The interned frame. `detail` is the class of a key, the conjunction of a value. */
  private frame(phase: number, progress: Progress, detail: number): ObjectFrame {
    const { seen, others, count, unmet, next } = progress
    // Counts matter only up to the bounds.
    const bound = this.spec.max === Number.POSITIVE_INFINITY ? this.spec.min : this.spec.max
    const key = this.frameKeys.intern([phase, detail, others, Math.min(count, bound), unmet, this.ordered ? next : 0, ...seen])
    let frame = this.frames.get(key)
    if (frame === undefined) {
      frame = new ObjectFrame(this, phase, { ...progress, count: Math.min(count, bound) }, detail)
      this.frames.set(key, frame)
    }
    return frame
  }

  follow(phase: number, progress: Progress, detail: number, tag: number, text: Uint8Array | null): readonly Step[] {
    const { tokens } = this.language
    switch (phase) {
      case Phase.Start: {
        const steps = this.keySteps(progress)
        if (this.canClose(progress)) steps.push({ lexeme: tokens.closeEmptyObject, frames: [] })
        return steps
      }
      case Phase.Key:
        return tag >= FirstNameTag
          ? this.afterName(progress, this.indexOf.get(tag) as number)
          : this.afterOther(progress, this.classes[detail], text)
      case Phase.Colon:
        return this.language.valueSteps(detail).map(({ lexeme, frames }) => ({
          lexeme,
          frames: [this.frame(Phase.Value, progress, 0), ...frames],
        }))
      case Phase.Value: {
        const steps: Step[] = []
        if (this.keySteps(progress).length > 0) steps.push({ lexeme: tokens.comma, frames: [this.frame(Phase.Comma, progress, 0)] })
        if (this.canClose(progress)) steps.push({ lexeme: tokens.closeObject, frames: [] })
        return steps
      }
      default:
        return this.keySteps(progress)
    }
  }

  expect(phase: number, progress: Progress): Expectation {
    const { path } = this
    if (phase === Phase.Colon) return { what: "a colon", example: ":", path }
    if (phase === Phase.Value) {
      const canClose = this.canClose(progress)
      const more = this.keySteps(progress).length > 0
      return { what: more && canClose ? 'a comma or "}"' : more ? "a comma" : '"}"', example: more ? "," : "}", path }
    }
    const names = this.spec.names.filter((_, i) => this.canRead(progress, i)).map(({ name }) => JSON.stringify(name))
    const listed = names.slice(0, 8).join(", ") + (names.length > 8 ? ", …" : "")
    const others = this.usableClasses(progress).length > 0
    const what = names.length === 0 ? (others ? "a property name" : '"}"') : others ? `a property name, such as ${listed}` : `the property ${listed}`
    return { what, example: names[0] ?? (others ? '"name"' : "}"), path }
  }

  /** Whether an object with at least these demands has a value, given which parts have one. */
  static isPossible(spec: ObjectSpec, lookup: Lookup): boolean {
    let required = 0
    let optional = 0
    for (const { value, isRequired, name } of spec.names) {
      const canBe = name.isWellFormed() && lookup(value)
      if (isRequired && !canBe) return false
      if (isRequired) required++
      else if (canBe) optional++
    }
    if (required > spec.max) return false
    const hasClass = spec.classes.some(({ value }) => lookup(value))
    return hasClass || required + optional >= spec.min
  }

  private isSeen(progress: Progress, index: number): boolean {
    return ((progress.seen[index >>> 5] >>> (index & 31)) & 1) === 1
  }

  private canClose({ requiredCount, count, unmet }: Progress): boolean {
    return requiredCount === 0 && count >= this.spec.min && unmet === 0
  }

  /** Progress after declared name `index` with `met` obligations met by its value. */
  private withName(progress: Progress, index: number, met: number): Progress {
    const seen = progress.seen.slice()
    seen[index >>> 5] |= 1 << (index & 31)
    return {
      seen,
      others: progress.others,
      count: progress.count + 1,
      unmet: progress.unmet & ~met,
      next: index + 1,
      requiredCount: progress.requiredCount - (this.spec.names[index].isRequired ? 1 : 0),
    }
  }

  /** Whether name `index` may be the next key. */
  private canRead(progress: Progress, index: number): boolean {
    if (!this.isOffered[index] || this.isSeen(progress, index)) return false
    if (this.ordered && index < progress.next) return false
    return this.meetings(progress, this.spec.names[index].obligations, this.spec.names[index].value, (met) => this.withName(progress, index, met)).length > 0
  }

  /** Ways to read a key whose value could meet `obligations`: the value's conjunction, and the progress after it. */
  private meetings(
    progress: Progress,
    obligations: number,
    value: number,
    after: (met: number) => Progress,
  ): { value: number; progress: Progress }[] {
    const open = obligations & progress.unmet
    const ways: { value: number; progress: Progress }[] = []
    for (let met = open; ; met = (met - 1) & open) {
      const next = after(met)
      const demand = met === 0 ? value : this.language.and(value, this.spec.obligations.filter((_, i) => (met >>> i) & 1))
      if (this.language.isProductive(demand) && this.canFinish(next)) ways.push({ value: demand, progress: next })
      if (met === 0) return ways
    }
  }

  /** Whether the object can still be completed. */
  private canFinish(progress: Progress): boolean {
    const { min, max, names } = this.spec
    if (progress.unmet !== 0 && !this.canMeet(progress)) return false
    if (progress.count + progress.requiredCount > max) return false
    if (this.classes.length > 0 || progress.count + progress.requiredCount >= min) return true
    let available = 0
    for (let i = this.ordered ? progress.next : 0; i < names.length; i++) {
      if (this.isOffered[i] && !this.isSeen(progress, i)) available++
    }
    return progress.count + available >= min
  }

  /**
   * Whether the unmet obligations can be met within the bound on keys: each by a required name that is still to come or
   * by one more key; one key may meet several.
   */
  private canMeet(progress: Progress): boolean {
    const { names, max } = this.spec
    const candidates: { value: number; obligations: number; isFree: boolean; isNamed: boolean }[] = []
    for (let i = this.ordered ? progress.next : 0; i < names.length; i++) {
      if (!this.isOffered[i] || this.isSeen(progress, i)) continue
      if ((names[i].obligations & progress.unmet) !== 0) {
        candidates.push({ ...names[i], isFree: names[i].isRequired, isNamed: true })
      }
    }
    for (const keyClass of this.classes) candidates.push({ ...keyClass, isFree: false, isNamed: false })
    const search = (unmet: number, from: number, room: number): boolean => {
      if (unmet === 0) return true
      for (let c = from; c < candidates.length; c++) {
        const { value, obligations, isFree, isNamed } = candidates[c]
        if (!isFree && room === 0) continue
        const open = obligations & unmet
        for (let met = open; met > 0; met = (met - 1) & open) {
          const demand = this.language.and(value, this.spec.obligations.filter((_, i) => (met >>> i) & 1))
          // A class has names without end: it may serve again.
          if (this.language.isProductive(demand) && search(unmet & ~met, isNamed ? c + 1 : c, isFree ? room : room - 1)) return true
        }
      }
      return false
    }
    return search(progress.unmet, 0, max - progress.count - progress.requiredCount)
  }

  private usableClasses(progress: Progress): number[] {
    // In schema order the classes come after every required name.
    if (this.ordered && progress.requiredCount > 0) return []
    const usable: number[] = []
    for (const [c, keyClass] of this.classes.entries()) {
      const after = (met: number) => this.withOther(progress, progress.others, met)
      if (this.meetings(progress, keyClass.obligations, keyClass.value, after).length > 0) usable.push(c)
    }
    return usable
  }

  private withOther(progress: Progress, others: number, met: number): Progress {
    const { unmet, count } = progress
    return { ...progress, others, count: count + 1, unmet: unmet & ~met, next: this.ordered ? this.spec.names.length : 0 }
  }

  /** The lexemes of the keys that may come next. */
  private keySteps(progress: Progress): Step[] {
    const { names } = this.spec
    const available: number[] = []
    for (let i = this.ordered ? progress.next : 0; i < names.length; i++) {
      if (this.canRead(progress, i)) available.push(i)
      if (this.ordered && names[i].isRequired && !this.isSeen(progress, i)) break
    }
    const classes = this.usableClasses(progress)
    const steps: Step[] = []
    if (classes.length === 0) {
      const entries = available.map((i) => ({ bytes: names[i].bytes, tag: tagOfName(names[i].name) }))
      this.addKey(steps, namesContent(buildNames(entries.sort((a, b) => compareNames(a.bytes, b.bytes))), NoContent), progress, 0)
    }
    for (const [rank, c] of classes.entries()) {
      // The first class reads the declared names along with its own: one thread instead of two.
      const trie = this.keyNames(progress, rank === 0 ? available : [])
      this.addKey(steps, namesContent(trie, this.classes[c].content), progress, c)
    }
    return steps
  }

  private addKey(steps: Step[], content: number, progress: Progress, keyClass: number): void {
    const lexeme = stringLexeme(content, this.language.policy.escapes)
    if (lexeme !== Dead) steps.push({ lexeme, frames: [this.frame(Phase.Key, progress, keyClass)] })
  }

  /** The available names with their tags; declared and repeated ones are excluded from the class. */
  private keyNames(progress: Progress, available: readonly number[]): number {
    const { names } = this.spec
    if (this.allExcluded < 0) {
      const entries = names.filter(({ name }) => name.isWellFormed()).map(({ bytes }) => ({ bytes, tag: ExcludedTag }))
      this.allExcluded = entries.length === 0 ? NoNames : buildNames(entries.sort((a, b) => compareNames(a.bytes, b.bytes)))
    }
    let trie = this.allExcluded
    for (const i of available) trie = withName(trie, names[i].bytes, tagOfName(names[i].name))
    if (progress.others > 0) {
      for (const id of this.otherLists.view(progress.others).slice()) trie = withName(trie, this.otherNames[id], ExcludedTag)
    }
    return trie
  }

  private afterName(progress: Progress, index: number): readonly Step[] {
    const { obligations, value } = this.spec.names[index]
    return this.meetings(progress, obligations, value, (met) => this.withName(progress, index, met)).map((way) => ({
      lexeme: this.language.tokens.colon,
      frames: [this.frame(Phase.Colon, way.progress, way.value)],
    }))
  }

  private afterOther(progress: Progress, keyClass: KeyClass, text: Uint8Array | null): readonly Step[] {
    const others = text === null || progress.others === UnknownKeys ? UnknownKeys : this.withOtherName(progress.others, text)
    const after = (met: number) => this.withOther(progress, others, met)
    return this.meetings(progress, keyClass.obligations, keyClass.value, after).map((way) => ({
      lexeme: this.language.tokens.colon,
      frames: [this.frame(Phase.Colon, way.progress, way.value)],
    }))
  }

  private withOtherName(list: number, text: Uint8Array): number {
    const name = JSON.parse(new TextDecoder().decode(text)) as string
    let id = this.otherIds.get(name)
    if (id === undefined) {
      id = this.otherNames.push(new TextEncoder().encode(name)) - 1
      this.otherIds.set(name, id)
    }
    return this.otherLists.intern([...this.otherLists.view(list), id].sort((a, b) => a - b))
  }
}

class ObjectFrame extends Frame {
  override readonly needsText: boolean
  override readonly isSymbolic: boolean
  private readonly object: ObjectLanguage
  private readonly phase: number
  private readonly progress: Progress
  private readonly detail: number

  constructor(object: ObjectLanguage, phase: number, progress: Progress, detail: number) {
    super()
    this.object = object
    this.phase = phase
    this.progress = progress
    this.detail = detail
    this.needsText = phase === Phase.Key && object.spec.classes.length > 0
    this.isSymbolic = phase === Phase.Key && progress.others === UnknownKeys
  }

  follow(tag: number, text: Uint8Array | null): readonly Step[] {
    return this.object.follow(this.phase, this.progress, this.detail, tag, text)
  }

  expect(): Expectation {
    return this.object.expect(this.phase, this.progress)
  }
}
