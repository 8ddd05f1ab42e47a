/**
 * The object frame: keys, colons, values, commas. `objectrules.ts` decides what may come next; this
 * file turns it into lexemes and frames.
 *
 * All keys that may come next are one lexeme per class: the declared names as a trie over the
 * class's automaton, from which declared and repeated names are excluded. In an open object that is
 * any string except along the names.
 */
import { checkTime } from "../../deadline.ts"
import { checkLimit, fixedBounds, placed } from "../../errors.ts"
import { describeSample, type Expectation, Frame, noFrames, type Step } from "../../frame.ts"
import { PairMap, TupleTable } from "../../intern.ts"
import { shortestCompletion } from "../../lexeme/completion.ts"
import { anyContent, NoContent, namesContent } from "../../lexeme/string/content.ts"
import { ExcludedTag, excludedNames, NoNames, withName } from "../../lexeme/string/names.ts"
import { shortStrings, stringLexeme } from "../../lexeme/string/string.ts"
import { Dead } from "../../lexeme/table.ts"
import { utf8 } from "../../utf8.ts"
import type { Lookup } from "../facts/satisfiable.ts"
import { type Demands, pathOfBegun, type Values } from "../values.ts"
import { expectValue } from "../words.ts"
import { FirstNameTag, KeyTries, tagOfName } from "./keytries.ts"
import { type KeyWay, ObjectRules, type Progress, UnknownKeys } from "./objectrules.ts"
import type { ObjectSpec } from "./objectspec.ts"
import { keyWords, neededWords } from "./objectwords.ts"

const decoder = new TextDecoder()
const noSteps: readonly Step[] = []
/** The constraint on the value depends on the text of the key, which is unknown. */
const UnknownValue = -1

/** The position of the reader within the object. */
const Phase = { Start: 0, Key: 1, Colon: 2, Value: 3, Comma: 4 } as const

export class ObjectLanguage {
  readonly rules: ObjectRules
  readonly path: string
  private readonly values: Values
  /** By the id of the key. */
  private readonly frames: ObjectFrame[] = []
  private readonly frameKeys = new TupleTable()
  /** By set of other keys, a trie of excluded names: the set before the last key, and that key. */
  private readonly lastOthers = new Map<number, { before: number; name: Uint8Array }>()
  /** (trie, set of other keys) → the trie without those keys. */
  private readonly withoutOthers = new PairMap()
  private readonly tries: KeyTries
  /**
   * Phase, detail, others, count, next; then one bit for each name that was read, and one for each
   * obligation that is not met.
   */
  private readonly frameKey: Int32Array

  /**
   * `isProductive` may know fewer values than the language: witnesses use only values of lower
   * rank. Then values are not cut into parts, which have ranks of their own.
   */
  constructor(
    spec: ObjectSpec,
    values: Values,
    path: string,
    isProductive: Lookup,
    demands: Demands = values,
  ) {
    this.values = values
    this.path = path
    const ordered = values.policy.order === "schema" ? spec.declared : 0
    this.rules = new ObjectRules(spec, ordered, demands, isProductive, values.limits)
    const unmetWords = (spec.obligationCount + 31) >>> 5
    this.frameKey = new Int32Array(5 + this.rules.start.seen.length + unmetWords)
    this.tries = new KeyTries(spec.names.map(({ name, bytes }) => ({ bytes, tag: tagOfName(name, bytes) })))
  }

  /** Returns the frame at the beginning, or null if no object satisfies the spec. */
  start(): Frame | null {
    return this.rules.isPossible() ? this.frame(Phase.Start, this.rules.start, 0) : null
  }

  /** `detail` is the class of a key, or the conjunction of a value. */
  follow(frame: ObjectFrame, tag: number, text: Uint8Array | null): readonly Step[] {
    const { tokens } = this.values
    const { phase, progress, detail } = frame
    switch (phase) {
      case Phase.Start: {
        const steps = this.keySteps(frame)
        return this.rules.canClose(progress)
          ? [...steps, { lexeme: tokens.closeEmptyObject, frames: noFrames }]
          : steps
      }
      case Phase.Key:
        return this.colons(this.keyWays(frame, tag, text))
      case Phase.Colon: {
        if (detail === UnknownValue) return noSteps
        const after = this.frame(Phase.Value, progress, 0)
        const under = [after]
        return this.values.valueSteps(detail).map(({ lexeme, frames }) => ({
          lexeme,
          frames: frames.length === 0 ? under : [after, ...frames],
        }))
      }
      case Phase.Value: {
        const close = this.rules.canClose(progress) ? { lexeme: tokens.closeObject, frames: noFrames } : null
        if (!this.rules.canContinue(progress)) return close === null ? noSteps : [close]
        const comma = { lexeme: tokens.comma, frames: [this.frame(Phase.Comma, progress, 0)] }
        return close === null ? [comma] : [comma, close]
      }
      default:
        return this.keySteps(frame)
    }
  }

  expect({ phase, progress }: ObjectFrame, sample: string, lexeme: number): Expectation {
    const { path, rules, values } = this
    const plain = { what: describeSample(sample), example: sample, path }
    switch (phase) {
      case Phase.Key:
        return { ...plain, what: keyWords({ sample, lexeme }, rules, progress) }
      case Phase.Value:
        return expectValue(values, rules.valuesRead(progress).reverse(), { sample, lexeme }) ?? plain
      case Phase.Comma:
        return rules.canClose(progress)
          ? plain
          : { ...plain, what: plain.what + neededWords(rules, progress) }
      default:
        return plain
    }
  }

  /**
   * Returns the path of the schema of the value under `frame`, found by the lexemes with which the
   * value began, since frames forget the last key. Otherwise returns the path of the object.
   */
  pathOf({ phase, progress }: ObjectFrame, beganAs: (lexeme: number) => boolean): string {
    const read = phase === Phase.Value ? this.rules.valuesRead(progress) : []
    return pathOfBegun(this.values, read, beganAs) ?? this.path
  }

  /** Returns a text that completes the object after the lexeme under `frame` ended with `tag`. */
  finish(frame: ObjectFrame, tag: number, text: Uint8Array): string {
    const { phase, progress, detail } = frame
    if (phase === Phase.Key) {
      const way = this.easiestWay(frame, tag, text)
      return `:${this.values.witness(way.value)}${this.finishMembers(way.progress)}`
    }
    if (phase === Phase.Colon) return this.values.witness(detail) + this.finishMembers(progress)
    if (phase === Phase.Value) return this.finishMembers(progress)
    if (this.rules.canClose(progress) && phase === Phase.Start) return "}"
    const { key, way } = this.nextKey(progress)
    return `${key}:${this.values.witness(way.value)}${this.finishMembers(way.progress)}`
  }

  private finishMembers(from: Progress): string {
    const parts: string[] = []
    let length = 0
    const add = (key: string, value: number) => {
      const part = `,${key}:${this.values.witness(value)}`
      parts.push(part)
      length += part.length
      checkLimit(fixedBounds, "witnessUnits", length, this.path)
    }
    let progress = from
    while (!this.rules.isFree(progress.unmet) && !this.rules.canClose(progress)) {
      checkTime()
      const { key, way } = this.nextKey(progress)
      add(key, way.value)
      progress = way.progress
    }
    if (this.rules.canClose(progress)) return `${parts.join("")}}`
    const { classes, spec } = this.rules
    // Each member takes at least five characters.
    checkLimit(fixedBounds, "witnessUnits", 5 * Math.max(0, spec.min - progress.count), this.path)
    let fresh: Generator<string> | null = null
    for (const index of this.rules.rest(progress)) {
      if (index >= 0) {
        add(JSON.stringify(spec.names[index].name), spec.names[index].value)
        continue
      }
      fresh ??= this.freshNames(progress)
      add(JSON.stringify(fresh.next().value), classes[-1 - index].value)
    }
    return `${parts.join("")}}`
  }

  /** Yields names of the first class that are neither declared nor read yet. */
  private *freshNames({ others }: Progress): Generator<string> {
    const taken = new Set(this.rules.spec.names.map(({ name }) => name))
    for (const name of excludedNames(others)) taken.add(decoder.decode(name))
    for (const name of shortStrings(this.rules.classes[0].expr)) if (!taken.has(name)) yield name
  }

  /** Returns a key, as it is written, that brings the object closer to its end. */
  private nextKey(progress: Progress): { key: string; way: KeyWay } {
    const name = this.rules.needed(progress)
    if (name !== null) return { key: JSON.stringify(this.rules.spec.names[name.index].name), way: name.way }
    const needed = this.rules.neededClass(progress)
    const step = this.keySteps(this.frame(Phase.Comma, progress, 0)).find(
      ({ frames }) => needed < 0 || (frames[0] as ObjectFrame).detail === needed,
    )
    if (step === undefined) throw new Error("internal: an object that can be finished offers no key")
    const { bytes, tag } = shortestCompletion(step.lexeme)
    return { key: decoder.decode(bytes), way: this.easiestWay(step.frames[0] as ObjectFrame, tag, bytes) }
  }

  private easiestWay(frame: ObjectFrame, tag: number, text: Uint8Array): KeyWay {
    const most = this.rules.spec.conditions.length === 0 ? 1 : undefined
    return this.rules.easiest(this.keyWays(frame, tag, text, most))
  }

  /** Returns the interned frame. Counts above the bounds are equivalent. */
  private frame(phase: number, progress: Progress, detail: number): ObjectFrame {
    const { seen, others, unmet, next, absent } = progress
    const { min, max } = this.rules.spec
    const count = Math.min(progress.count, max === Number.POSITIVE_INFINITY ? min : max)
    const { frameKey } = this
    frameKey[0] = phase
    frameKey[1] = detail
    frameKey[2] = others
    frameKey[3] = count
    frameKey[4] = next
    for (let i = 0; i < seen.length; i++) frameKey[5 + i] = seen[i]
    for (let i = 5 + seen.length, left = unmet; i < frameKey.length; i++, left >>= 32n)
      frameKey[i] = Number(BigInt.asIntN(32, left))
    const key = this.frameKeys.intern(frameKey)
    // The key may exist without its frame, if the constructor threw an error the first time.
    if (this.frames[key] === undefined) {
      const { requiredCount } = progress
      const bounded =
        count === progress.count ? progress : { seen, others, count, unmet, next, requiredCount, absent }
      this.frames[key] = new ObjectFrame(this, phase, bounded, detail)
    }
    return this.frames[key]
  }

  private keyWays(
    { progress, detail }: ObjectFrame,
    tag: number,
    text: Uint8Array | null,
    most = Number.POSITIVE_INFINITY,
  ): KeyWay[] {
    if (tag >= FirstNameTag) return this.rules.nameWays(progress, this.tries.indexOf(tag), most)
    const ways = this.rules.classWays(progress, detail, this.othersAfter(progress.others, text), most)
    const { valueByName } = this.rules.classes[detail]
    if (valueByName === undefined) return ways
    const value = text === null ? UnknownValue : valueByName(JSON.parse(decoder.decode(text)) as string)
    return ways.map(({ progress }) => ({ value, progress }))
  }

  private colons(ways: readonly KeyWay[]): Step[] {
    return ways.map(({ value, progress }) => ({
      lexeme: this.values.tokens.colon,
      frames: [this.frame(Phase.Colon, progress, value)],
    }))
  }

  /** Returns the lexemes of the keys that may come next under `frame`. */
  private keySteps(frame: ObjectFrame): readonly Step[] {
    frame.keySteps ??= this.makeKeySteps(frame.progress)
    return frame.keySteps
  }

  private makeKeySteps(progress: Progress): Step[] {
    const available = this.rules.available(progress)
    const classes = this.rules.availableClasses(progress)
    const steps: Step[] = []
    const add = (content: number, keyClass: number) => {
      const lexeme = stringLexeme(content, this.values.policy.escapes)
      if (lexeme !== Dead) steps.push({ lexeme, frames: [this.frame(Phase.Key, progress, keyClass)] })
    }
    if (classes.length === 0) add(namesContent(this.tries.of(available, true), NoContent), 0)
    for (const [rank, c] of classes.entries()) {
      // The first class reads the declared names as well: one thread instead of two.
      const declared = rank === 0 ? this.tries.of(available, false) : this.tries.allExcluded()
      const trie = this.exclude(progress.others, declared)
      add(namesContent(trie, this.rules.classes[c].content), c)
    }
    return steps
  }

  private othersAfter(others: number, text: Uint8Array | null): number {
    if (text === null || others === UnknownKeys) return UnknownKeys
    const name = utf8(JSON.parse(decoder.decode(text)) as string)
    const after = withName(others, name, ExcludedTag)
    if (!this.lastOthers.has(after)) this.lastOthers.set(after, { before: others, name })
    return after
  }

  /** Returns `trie` without the other keys. In most cases all but the last are excluded already. */
  private exclude(others: number, trie: number): number {
    if (others === NoNames || others === UnknownKeys) return trie
    const missing: number[] = []
    let result = trie
    for (let set = others; set !== NoNames; set = this.othersBefore(set).before) {
      const known = this.withoutOthers.get(trie, set)
      if (known >= 0) {
        result = known
        break
      }
      missing.push(set)
    }
    for (const set of missing.reverse()) {
      result = withName(result, this.othersBefore(set).name, ExcludedTag)
      this.withoutOthers.set(trie, set, result)
    }
    return result
  }

  private othersBefore(set: number): { before: number; name: Uint8Array } {
    return this.lastOthers.get(set) as { before: number; name: Uint8Array }
  }
}

/** Returns a lower bound on the bytes of the members of any object, with its closing brace. */
function leastMembers({ names }: ObjectSpec): number {
  let bytes = 0
  // A colon, one character of a value, and a comma or the brace.
  for (const { name, isRequired } of names) if (isRequired) bytes += JSON.stringify(name).length + 3
  return Math.max(1, bytes)
}

class ObjectFrame extends Frame {
  override readonly needsText: boolean
  override readonly isSymbolic: boolean
  override readonly leastBytes: number
  override readonly isOpenEnded: boolean
  readonly object: ObjectLanguage
  readonly phase: number
  readonly progress: Progress
  readonly detail: number
  /** The keys that may come next, memoized by the language; null before the first request. */
  keySteps: readonly Step[] | null = null

  constructor(object: ObjectLanguage, phase: number, progress: Progress, detail: number) {
    super()
    this.object = object
    this.phase = phase
    this.progress = progress
    this.detail = detail
    this.leastBytes = phase === Phase.Start ? leastMembers(object.rules.spec) : 1
    this.needsText = phase === Phase.Key && object.rules.classes.length > 0
    const isUnknown = phase === Phase.Colon && detail === UnknownValue
    this.isSymbolic = isUnknown || (phase === Phase.Key && progress.others === UnknownKeys)
    // If every name is allowed, each prefix of a name that is already used is also the prefix of an
    // unused one.
    this.isOpenEnded = this.isSymbolic && !isUnknown && object.rules.classes[detail]?.content === anyContent
  }

  follow(tag: number, text: Uint8Array | null): readonly Step[] {
    try {
      return this.object.follow(this, tag, text)
    } catch (error) {
      throw placed(error, this.object.path)
    }
  }

  finish(tag: number, text: Uint8Array): string {
    try {
      return this.object.finish(this, tag, text)
    } catch (error) {
      throw placed(error, this.object.path)
    }
  }

  override expect(sample: string, lexeme: number): Expectation {
    return this.object.expect(this, sample, lexeme)
  }

  override pathOf(beganAs: (lexeme: number) => boolean): string {
    return this.object.pathOf(this, beganAs)
  }
}
