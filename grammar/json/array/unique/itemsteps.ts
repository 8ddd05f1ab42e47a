/**
 * The ways to begin an item that differs from those before it.
 *
 * An exclusion is part of the item's own language. It is removed from the values that were left
 * after the item before, so that a list of n items costs n steps for each, and small ones: names of
 * a trie, cells of numbers, three words. Only containers that were seen become facts of a
 * conjunction.
 */
import type { Step } from "../../../frame.ts"
import { NumberSet } from "../../../lexeme/number/numberset.ts"
import { numberLexeme } from "../../../lexeme/raw.ts"
import { NamesKind, NoContent, namesContent, partsOfContent } from "../../../lexeme/string/content.ts"
import { ExcludedTag, NoNames, withName } from "../../../lexeme/string/names.ts"
import { stringLexeme } from "../../../lexeme/string/string.ts"
import { Dead } from "../../../lexeme/table.ts"
import { utf8 } from "../../../utf8.ts"
import type { Fact } from "../../facts/conjunction.ts"
import { decimalOfNode } from "../../read/value.ts"
import { FalseBit, NullBit, TrueBit } from "../../scalar/scalar.ts"
import { wordLexeme } from "../../scalar/scalars.ts"
import type { Values } from "../../values.ts"

/** The values that are left of a conjunction. */
interface Left {
  readonly content: number
  readonly numbers: NumberSet
  /** Bits of the words `true`, `false` and `null`. */
  readonly words: number
  /** Facts "differs from this container". */
  readonly containers: readonly number[]
}

/** The number of value lists whose results are memoized. Results of older lists are recomputed. */
const MaxKept = 64

export class ItemSteps {
  private readonly values: Values
  /** By list of values: the list from which it was made, and the value that was added. */
  private readonly before = new WeakMap<
    readonly number[],
    { readonly list: readonly number[]; readonly value: number }
  >()
  /** By list and added value: the longer list. Readings of one text share these lists. */
  private readonly after = new WeakMap<readonly number[], Map<number, readonly number[]>>()
  /** By list of values, latest last: the values that are left of each conjunction. */
  private readonly kept = new Map<readonly number[], Map<number, Left>>()
  private readonly whole = new Map<number, Left>()

  constructor(values: Values) {
    this.values = values
  }

  /** Returns `list`, which ascends, with `value` added. */
  with(list: readonly number[], value: number): readonly number[] {
    let longer = this.after.get(list)
    if (longer === undefined) {
      longer = new Map()
      this.after.set(list, longer)
    }
    let made = longer.get(value)
    if (made === undefined) {
      let at = list.length
      while (at > 0 && list[at - 1] > value) at--
      made = list.toSpliced(at, 0, value)
      longer.set(value, made)
      this.before.set(made, { list, value })
    }
    return made
  }

  /**
   * Returns the ways to begin a value of `conjunction` for which the facts `seen` and `barred`,
   * "differs from …", hold.
   */
  of(conjunction: number, seen: readonly number[], barred: readonly number[]): readonly Step[] {
    const { values } = this
    if (seen.length + barred.length === 0) return values.valueSteps(conjunction)
    let left = this.left(conjunction, seen)
    for (const value of barred) left = this.without(left, value)
    const containers =
      left.containers.length === 0 ? conjunction : values.all.and(conjunction, left.containers)
    const steps = values.valueSteps(containers).filter(({ frames }) => frames.length > 0)
    const lexemes = [
      left.content === NoContent ? Dead : stringLexeme(left.content, values.policy.escapes),
      numberLexeme(left.numbers.state),
      wordLexeme(left.words),
    ]
    for (const lexeme of lexemes) if (lexeme !== Dead) steps.push({ lexeme, frames: [] })
    return steps
  }

  private left(conjunction: number, seen: readonly number[]): Left {
    /** Values that have not been removed yet, the last one first. */
    const missing: number[] = []
    let list = seen
    let left = this.kept.get(list)?.get(conjunction)
    while (left === undefined) {
      const before = this.before.get(list)
      if (before === undefined) {
        left = this.wholeOf(conjunction)
        missing.push(...list)
      } else {
        missing.push(before.value)
        list = before.list
        left = this.kept.get(list)?.get(conjunction)
      }
    }
    for (const value of missing.reverse()) left = this.without(left, value)
    if (missing.length > 0) this.keep(seen, conjunction, left)
    return left
  }

  private keep(seen: readonly number[], conjunction: number, left: Left): void {
    let of = this.kept.get(seen)
    if (of === undefined) {
      of = new Map()
      this.kept.set(seen, of)
      if (this.kept.size > MaxKept) this.kept.delete(this.kept.keys().next().value as readonly number[])
    }
    of.set(conjunction, left)
  }

  private wholeOf(conjunction: number): Left {
    let left = this.whole.get(conjunction)
    if (left === undefined) {
      const { scalars, policy } = this.values
      left = {
        content: scalars.strings.content(conjunction),
        numbers: NumberSet.of(scalars.numbers.of(conjunction), policy.numbers),
        words: scalars.words(conjunction),
        containers: [],
      }
      this.whole.set(conjunction, left)
    }
    return left
  }

  /** Returns `left` without the value of fact `id`. */
  private without(left: Left, id: number): Left {
    const { value } = this.values.all.facts[id] as Extract<Fact, { kind: "equals" }>
    switch (value.kind) {
      case "string":
        return value.value.isWellFormed()
          ? { ...left, content: withoutText(left.content, utf8(value.value)) }
          : left
      case "number":
        return { ...left, numbers: left.numbers.without(decimalOfNode(value)) }
      case "null":
        return { ...left, words: left.words & ~NullBit }
      case "false":
        return { ...left, words: left.words & ~FalseBit }
      case "true":
        return { ...left, words: left.words & ~TrueBit }
      default:
        return { ...left, containers: [...left.containers, id] }
    }
  }
}

/**
 * Returns the texts of `content` without this one. It is removed from a list of texts; over any
 * other content it becomes an excluded name.
 */
function withoutText(content: number, text: Uint8Array): number {
  if (content === NoContent) return NoContent
  const [kind, names, base] = partsOfContent(content)
  if (kind !== NamesKind) return namesContent(withName(NoNames, text, ExcludedTag), content)
  return namesContent(withName(names, text, base === NoContent ? 0 : ExcludedTag), base)
}
