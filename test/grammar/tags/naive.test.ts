/**
 * Random structural tags against the naive definition: the texts of a node up to a length, as a set. Text that comes last holds no
 * end of the tag around; a trigger switches where it is first complete. Seeds are in the failures.
 */
import { describe, expect, test } from "vitest"
import { GrammarError } from "../../../grammar/errors.ts"
import { compile } from "../../../grammar/index.ts"
import { DeadState, States } from "../../../grammar/state.ts"
import { stringsOver } from "../../support/oracle/texts.ts"
import { randomOf } from "../../support/oracle.ts"

interface TagNode {
  begin: string
  content: Node
  end: string | string[]
}
type Node =
  | { type: "const_string"; value: string }
  | { type: "any_text"; excludes: string[]; max_chars?: number }
  | { type: "sequence" | "or"; elements: Node[] }
  | { type: "repeat"; min: number; max: number; content: Node }
  | ({ type: "tag" } & TagNode)
  | ({
      type: "triggered_tags"
      triggers: string[]
      tags: TagNode[]
      excludes: string[]
    } & Order)
  | {
      type: "tags_with_separator"
      tags: TagNode[]
      separator: string
      at_least_one: boolean
      stop_after_first: boolean
    }
  | { type: "dispatch"; rules: [string, Node][]; loop: boolean; excludes: string[] }

interface Order {
  at_least_one: boolean
  stop_after_first: boolean
  leading_text: boolean
}

const Letters = ["a", "b", "c"]
const MaxLength = 6
const all = [...stringsOver(Letters, MaxLength)]
type Texts = ReadonlySet<string>
const empty: Texts = new Set([""])

function joined(a: Texts, b: Texts): Texts {
  const both = new Set<string>()
  for (const head of a)
    for (const tail of b) if (head.length + tail.length <= MaxLength) both.add(head + tail)
  return both
}

const union = (...sets: Texts[]): Texts => new Set(sets.flatMap((set) => [...set]))

function closure(part: Texts): Texts {
  let texts = empty
  for (let isGrown = true; isGrown; ) {
    const next = union(texts, joined(texts, part))
    isGrown = next.size > texts.size
    texts = next
  }
  return texts
}

function holdsAny(text: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => text.includes(pattern))
}

/** The texts of `node` where `ends` may come behind it. */
function textsOf(node: Node, ends: readonly string[]): Texts {
  switch (node.type) {
    case "const_string":
      return new Set([node.value])
    case "any_text": {
      const most = node.max_chars ?? MaxLength
      return new Set(
        all.filter((text) => text.length <= most && !holdsAny(text, [...node.excludes, ...ends])),
      )
    }
    case "sequence": {
      let texts = empty
      let mayBeLast = true
      for (const element of node.elements.toReversed()) {
        texts = joined(textsOf(element, mayBeLast ? ends : []), texts)
        mayBeLast &&= canBeEmpty(element)
      }
      return texts
    }
    case "or":
      return union(...node.elements.map((element) => textsOf(element, ends)))
    case "repeat": {
      const part = textsOf(node.content, ends)
      let texts = node.min === 0 ? empty : new Set<string>()
      let power = empty
      const max = node.max < 0 ? MaxLength + node.min : node.max
      for (let count = 1; count <= max; count++) {
        power = joined(power, part)
        if (count >= node.min) texts = union(texts, power)
      }
      return texts
    }
    case "tag":
      return joined(new Set([node.begin]), restOf(node, ends))
    case "tags_with_separator": {
      const tag = union(...node.tags.map((each) => joined(new Set([each.begin]), restOf(each, ends))))
      const more = node.stop_after_first ? empty : closure(joined(new Set([node.separator]), tag))
      const some = joined(tag, more)
      return node.at_least_one ? some : union(empty, some)
    }
    case "triggered_tags": {
      const branches = node.tags.map((tag) => {
        const trigger = node.triggers.find((each) => tag.begin.startsWith(each)) as string
        return { trigger, rest: joined(new Set([tag.begin.slice(trigger.length)]), restOf(tag, ends)) }
      })
      return switching(branches, node.triggers, [...node.excludes, ...ends], node)
    }
    case "dispatch": {
      const branches = node.rules.map(([trigger, target]) => ({ trigger, rest: textsOf(target, ends) }))
      const triggers = node.rules.map(([trigger]) => trigger)
      const order = { at_least_one: false, stop_after_first: !node.loop, leading_text: true }
      return switching(branches, triggers, [...node.excludes, ...ends], order)
    }
  }
}

/** What follows the begin of a tag. */
function restOf({ content, end }: TagNode, ends: readonly string[]): Texts {
  const own = [end].flat()
  const behind = [...own.filter((each) => each !== ""), ...(own.includes("") ? ends : [])]
  return joined(textsOf(content, behind), new Set(own))
}

function switching(
  branches: readonly { trigger: string; rest: Texts }[],
  triggers: readonly string[],
  excludes: readonly string[],
  { at_least_one, stop_after_first, leading_text }: Order,
): Texts {
  const patterns = [...triggers, ...excludes]
  const text = new Set(all.filter((each) => !holdsAny(each, patterns)))
  const tag = union(...branches.map(({ trigger, rest }) => joined(new Set([trigger]), rest)))
  // Up to a trigger nothing else has been complete, and no exclude is together with it.
  const before = branches.map(({ trigger, rest }) => {
    const begun = all.filter(
      (each) =>
        each.endsWith(trigger) &&
        !holdsAny(each.slice(0, -1), patterns) &&
        !excludes.some((exclude) => each.endsWith(exclude)),
    )
    return joined(new Set(begun), rest)
  })
  const later = union(...before)
  const behind = stop_after_first ? empty : joined(closure(later), text)
  if (leading_text) return union(joined(later, behind), at_least_one ? new Set() : text)
  return union(joined(tag, behind), at_least_one ? new Set() : empty)
}

function canBeEmpty(node: Node): boolean {
  switch (node.type) {
    case "const_string":
      return node.value === ""
    case "any_text":
    case "dispatch":
      return true
    case "sequence":
      return node.elements.every(canBeEmpty)
    case "or":
      return node.elements.some(canBeEmpty)
    case "repeat":
      return node.min === 0 || canBeEmpty(node.content)
    case "tag":
      return node.begin === "" && canBeEmpty(node.content) && [node.end].flat().includes("")
    default:
      return !node.at_least_one
  }
}

function randomNode(random: () => number, depth: number): Node {
  const below = (count: number) => Math.floor(random() * count)
  const isOn = () => random() < 0.5
  const word = (least: number, most: number) =>
    Array.from({ length: least + below(most - least + 1) }, () => Letters[below(Letters.length)]).join("")
  const list = <T>(least: number, most: number, make: () => T) =>
    Array.from({ length: least + below(most - least + 1) }, make)
  const inner = () => randomNode(random, depth - 1)
  const end = () => (random() < 0.7 ? word(1, 3) : list(1, 3, () => word(0, 2)))
  const tag = (begin = word(0, 2)): TagNode => ({ begin, content: inner(), end: end() })
  const pick = depth === 0 ? random() * 0.3 : random()
  if (pick < 0.12) return { type: "const_string", value: word(0, 2) }
  if (pick < 0.3) {
    const text = { type: "any_text", excludes: list(0, 2, () => word(1, 3)) } as const
    return random() < 0.2 ? { ...text, max_chars: below(4) } : text
  }
  if (pick < 0.42) return { type: "sequence", elements: list(1, 3, inner) }
  if (pick < 0.5) return { type: "or", elements: list(1, 3, inner) }
  if (pick < 0.56) {
    const min = below(3)
    return { type: "repeat", min, max: isOn() ? -1 : min + below(3), content: inner() }
  }
  if (pick < 0.68) return { type: "tag", ...tag() }
  if (pick < 0.76)
    return {
      type: "tags_with_separator",
      tags: list(1, 2, () => tag()),
      separator: word(0, 1),
      at_least_one: isOn(),
      stop_after_first: isOn(),
    }
  const excludes = list(0, 2, () => word(1, 3))
  if (pick < 0.86)
    return { type: "dispatch", rules: list(1, 3, () => [word(1, 2), inner()]), loop: isOn(), excludes }
  const triggers = list(1, 3, () => word(1, 2))
  const tags = list(1, 3, () => tag(triggers[below(triggers.length)] + word(0, 1)))
  const order = { at_least_one: isOn(), stop_after_first: isOn(), leading_text: isOn() }
  return { type: "triggered_tags", triggers, tags, excludes, ...order }
}

describe("random structural tags have the texts that they should have", () => {
  test.each(Array.from({ length: 24 }, (_, seed) => [seed]))("seed %i", (seed) => {
    const random = randomOf(1000 + seed)
    for (let round = 0; round < 25; round++) {
      const node = randomNode(random, 1 + (round % 3))
      const states = statesOf(node)
      if (states === null) continue
      const expected = textsOf(node, [])
      for (const text of all) {
        const state = states.advance(states.start, new TextEncoder().encode(text))
        const isAccepted = state !== DeadState && states.isAccepting(state)
        if (isAccepted === expected.has(text)) continue
        expect([JSON.stringify(node), text, isAccepted]).toEqual([JSON.stringify(node), text, !isAccepted])
      }
    }
  })
})

/** Null where triggers hold each other, or what the text may not hold. */
function statesOf(node: Node): States | null {
  try {
    return new States(compile({ kind: "tag", format: node }, { unsatisfiable: "empty" }).grammar)
  } catch (error) {
    if (!(error instanceof GrammarError) || !error.message.includes("could never be complete")) throw error
    return null
  }
}
