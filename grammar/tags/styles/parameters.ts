/**
 * Arguments one by one, as elements. Which may come next is computed as for JSON objects
 * (`json/object/objectrules.ts`). How a key and a value are written depends on the style.
 *
 * Names that the schema declares are written unchanged, all others are identifiers. A string is
 * written raw, any other value as JSON or in the notation of the style. A schema with alternatives
 * has one language for each branch, side by side.
 */
import { concatenate } from "../../bytes.ts"
import { GrammarError } from "../../errors.ts"
import type { Frame, Step } from "../../frame.ts"
import { Grammar } from "../../grammar.ts"
import type { JsonLanguage } from "../../json/language.ts"
import { FirstNameTag, KeyTries, tagOfName } from "../../json/object/keytries.ts"
import { type KeyWay, ObjectRules, type Progress, UnknownKeys } from "../../json/object/objectrules.ts"
import type { KeyClass, ObjectSpec } from "../../json/object/objectspec.ts"
import { wholeValues } from "../../json/values.ts"
import { shortestCompletion } from "../../lexeme/completion.ts"
import { exprs } from "../../lexeme/expr/expr.ts"
import { finiteTexts } from "../../lexeme/expr/finite.ts"
import { rawLexeme } from "../../lexeme/raw.ts"
import { exprContent, NoContent, namesContent } from "../../lexeme/string/content.ts"
import { ExcludedTag, excludedNames, NoNames, withName } from "../../lexeme/string/names.ts"
import { Dead } from "../../lexeme/table.ts"
import { untilLexeme } from "../../lexeme/until.ts"
import { parseRegex } from "../../regex/parse.ts"
import { respelledSteps } from "../../respelling.ts"
import { utf8 } from "../../utf8.ts"
import { type Arguments, noObject, ofTool } from "./arguments.ts"
import type { ParameterForms } from "./parameterforms.ts"
import { before, done, Places, shortestOf } from "./place.ts"

/** Names that no schema declares. */
const otherNames = parseRegex("[A-Za-z_][A-Za-z0-9_.-]*", { mode: "match", path: "" })

/** Returns the arguments of a tool, one by one. */
export function parameterArguments(args: Arguments, forms: ParameterForms): Grammar {
  return ofTool(args.tool, () => {
    if (args.input !== null) {
      const way = "Use the syntax regex, or a style that writes arguments as JSON"
      throw new GrammarError(
        "unsupported",
        "",
        `in this style no grammar can say where its own text ends. ${way}`,
      )
    }
    const start = args.specs.flatMap((spec) => new ParameterLanguage(args, spec, forms).start())
    if (start.length === 0) throw noObject(args)
    const { limits } = args.language
    const { tool } = args
    return new Grammar(start, { key: () => JSON.stringify(tool), title: `arguments of ${tool.name}`, limits })
  })
}

/** The language of one branch of a schema. */
class ParameterLanguage {
  private readonly language: JsonLanguage
  private readonly forms: ParameterForms
  private readonly path: string
  private readonly rules: ObjectRules
  private readonly tries: KeyTries
  private readonly places: Places
  private readonly values = new Map<string, readonly Step[]>()

  constructor({ language, value }: Arguments, spec: ObjectSpec, forms: ParameterForms) {
    this.language = language
    this.forms = forms
    this.path = language.all.pathOf(value)
    this.places = new Places(this.path)
    const written = this.writable(spec)
    this.rules = new ObjectRules(
      written,
      language.policy.order === "schema" ? written.declared : 0,
      // Values are never split into parts: a part does not determine what a value written as text
      // may contain.
      wholeValues(language, (conjunction) => language.isProductive(conjunction)),
      (conjunction) => this.hasText(conjunction),
      language.limits,
    )
    this.tries = new KeyTries(
      written.names.map(({ name, bytes }) => ({ bytes, tag: tagOfName(name, bytes) })),
    )
  }

  /**
   * Returns the part of the spec that can be written: other names are identifiers. Refuses declared
   * names that cannot be keys.
   */
  private writable(spec: ObjectSpec): ObjectSpec {
    const names = [...spec.names]
    for (const { name } of names) {
      const held = this.forms.keyExcludes.find((text) => name.includes(text))
      if (name !== "" && held === undefined) continue
      const why = held === undefined ? "it is empty" : `it holds ${JSON.stringify(held)}`
      throw new GrammarError(
        "unsupported",
        this.path,
        `the property ${JSON.stringify(name)} cannot be written in this style: ${why}. Rename it`,
      )
    }
    const declared = new Set(names.map(({ name }) => name))
    const classes: KeyClass[] = []
    for (const each of spec.classes) {
      const expr = exprs.and([each.expr, otherNames])
      const texts = finiteTexts(expr, this.language.limits.finiteValues)
      if (texts === null) classes.push({ ...each, expr, content: exprContent(expr) })
      for (const name of texts ?? []) {
        if (declared.has(name)) continue
        const { value, chances } = each
        names.push({ name, bytes: utf8(name), value, chances, isRequired: false, absence: 0n })
      }
    }
    return { ...spec, names, classes }
  }

  /** Returns whether a value of `conjunction` can be written. Every type has a form. */
  private hasText(conjunction: number): boolean {
    if (this.language.plainTypes(conjunction).some !== 0) return true
    return this.forms.forms.some((_, form) => this.valueSteps(conjunction, form).length > 0)
  }

  start(): readonly Step[] {
    if (!this.rules.isPossible()) return []
    const { start } = this.rules
    return this.rules.canClose(start) ? [...this.next(start), ...this.forms.none] : this.next(start)
  }

  /** Returns what may follow an argument: the next one, or the end. */
  private next(progress: Progress): Step[] {
    const steps: Step[] = []
    if (this.rules.canContinue(progress)) {
      const keys = this.places.frame(
        `keys ${keyOf(progress)}`,
        () => this.keySteps(progress),
        () => {
          const { key, way } = this.nextKey(progress)
          return concatenate([key, this.valueText(way), this.finishMembers(way.progress)])
        },
      )
      steps.push(...before(keys, progress.count === 0 ? this.forms.open : this.forms.next))
    }
    if (this.rules.canClose(progress)) steps.push(done)
    return steps
  }

  /** Returns the lexemes of the keys that may come next. */
  private keySteps(progress: Progress): Step[] {
    const available = this.rules.available(progress)
    const classes = this.rules.availableClasses(progress)
    const steps: Step[] = []
    const add = (content: number, keyClass: number) => {
      const lexeme = rawLexeme(content)
      if (lexeme !== Dead) steps.push({ lexeme, frames: [this.keyFrame(progress, keyClass)] })
    }
    if (classes.length === 0) add(namesContent(this.tries.of(available, true), NoContent), -1)
    for (const [rank, c] of classes.entries()) {
      const declared = rank === 0 ? this.tries.of(available, false) : this.tries.allExcluded()
      add(namesContent(this.exclude(progress.others, declared), this.rules.classes[c].content), c)
    }
    return steps
  }

  /**
   * Returns `trie` without the other keys. Linear in their number: arguments that no schema
   * declares are few.
   */
  private exclude(others: number, trie: number): number {
    if (others === NoNames || others === UnknownKeys) return trie
    return excludedNames(others).reduce((names, name) => withName(names, name, ExcludedTag), trie)
  }

  private keyFrame(progress: Progress, keyClass: number): Frame {
    const waysOf = (tag: number, text: Uint8Array | null) => this.keyWays(progress, keyClass, tag, text)
    return this.places.frame(
      `key ${keyClass} ${keyOf(progress)}`,
      (tag, text) => this.afterKey(waysOf(tag, text)),
      (tag, text) => {
        const [way] = waysOf(tag, text)
        return concatenate([this.valueText(way), this.finishMembers(way.progress)])
      },
      { needsText: this.rules.classes.length > 0, isSymbolic: progress.others === UnknownKeys },
    )
  }

  private keyWays(progress: Progress, keyClass: number, tag: number, text: Uint8Array | null): KeyWay[] {
    if (tag >= FirstNameTag) return this.rules.nameWays(progress, this.tries.indexOf(tag))
    const isUnknown = text === null || progress.others === UnknownKeys
    const others = isUnknown ? UnknownKeys : withName(progress.others, text.slice(), ExcludedTag)
    return this.rules.classWays(progress, keyClass, others)
  }

  /**
   * Returns the ways to go on after a key: to its value, in each form that has one, and to what
   * follows it.
   */
  private afterKey(ways: readonly KeyWay[]): Step[] {
    const { forms } = this.forms
    return ways.flatMap(({ value, progress }) => {
      const next = this.places.frame(
        `next ${keyOf(progress)}`,
        () => this.next(progress),
        () => this.finishMembers(progress),
      )
      return forms.flatMap(({ between }, form) => {
        const steps = this.valueSteps(value, form)
        if (steps.length === 0) return []
        return before(
          next,
          before(
            this.places.place(`value ${value} ${form}`, () => steps),
            between,
          ),
        )
      })
    })
  }

  /** Returns the ways to begin a value in a form, including its closing piece. */
  private valueSteps(conjunction: number, form: number): readonly Step[] {
    const key = `${conjunction} ${form}`
    let steps = this.values.get(key)
    if (steps === undefined) {
      steps = this.makeValueSteps(conjunction, form)
      this.values.set(key, steps)
    }
    return steps
  }

  private makeValueSteps(conjunction: number, form: number): Step[] {
    const { padding, space, isSpaced, spelling } = this.forms
    const { types, rawTypes, close, closeValue } = this.forms.forms[form]
    const others = this.language.stepsOfTypes(conjunction, types & ~rawTypes)
    const closing = this.places.place(`close ${form}`, () => close)
    const closingValue = !isSpaced ? closing : this.places.place(`close value ${form}`, () => closeValue)
    const values = before(closingValue, spelling === null ? others : respelledSteps(others, spelling))
    const raw = rawTypes === 0 ? [] : this.rawSteps(conjunction, form, closing)
    const padded = (steps: Step[], lexeme: number | null, what: string): Step[] => {
      if (lexeme === null || steps.length === 0) return steps
      const behind = this.places.place(`${what} ${conjunction} ${form}`, () => steps)
      return [...steps, { lexeme, frames: [behind] }]
    }
    if (!isSpaced) return padded([...values, ...raw], padding, "padding")
    return [...padded(values, space, "space"), ...padded(raw, padding, "padding")]
  }

  /** Returns the ways to begin a string without quotes. */
  private rawSteps(conjunction: number, form: number, closing: Frame): Step[] {
    const { ends, rest } = this.forms.forms[form]
    const content = this.language.scalars.strings.content(conjunction)
    if (content === NoContent) return []
    if (ends.length === 0) return [{ lexeme: rawLexeme(content), frames: [closing] }]
    // The end is part of the lexeme: if the text could end after every character, each character
    // would cost a check of what follows.
    const lexeme = untilLexeme(content, ends, rest !== null)
    return [{ lexeme, frames: rest === null ? [] : [this.places.place(`rest ${form}`, () => rest)] }]
  }

  /** Returns a short text from after a key to the end of its value. */
  private valueText({ value }: KeyWay): Uint8Array {
    let best: Uint8Array | null = null
    for (const [form, { between }] of this.forms.forms.entries()) {
      const steps = this.valueSteps(value, form)
      if (steps.length === 0) continue
      const text = concatenate([shortestOf(between), shortestOf(steps)])
      if (best === null || text.length < best.length) best = text
    }
    if (best === null) throw new Error("internal: an argument without a value")
    return best
  }

  /** Returns a text that completes the arguments. */
  private finishMembers(from: Progress): Uint8Array {
    const parts: Uint8Array[] = []
    for (let progress = from; !this.rules.canClose(progress); ) {
      const { key, way } = this.nextKey(progress)
      const isFirst = progress.count === 0
      parts.push(shortestOf(isFirst ? this.forms.open : this.forms.next), key, this.valueText(way))
      progress = way.progress
    }
    return concatenate(parts)
  }

  /** Returns a key that brings the arguments closer to their end. */
  private nextKey(progress: Progress): { key: Uint8Array; way: KeyWay } {
    const name = this.rules.needed(progress)
    if (name !== null) return { key: this.rules.spec.names[name.index].bytes, way: name.way }
    const needed = this.rules.neededClass(progress)
    const keyClass = needed < 0 ? (this.rules.availableClasses(progress)[0] ?? -1) : needed
    const content = keyClass < 0 ? NoContent : this.rules.classes[keyClass].content
    const declared =
      keyClass < 0 ? this.tries.of(this.rules.available(progress), true) : this.tries.allExcluded()
    const lexeme = rawLexeme(namesContent(this.exclude(progress.others, declared), content))
    const { bytes, tag } = shortestCompletion(lexeme)
    return { key: bytes, way: this.rules.easiest(this.keyWays(progress, keyClass, tag, bytes)) }
  }
}

function keyOf({ seen, others, count, unmet, next, requiredCount }: Progress): string {
  return `${seen} ${others} ${count} ${unmet} ${next} ${requiredCount}`
}
