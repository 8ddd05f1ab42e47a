/**
 * Free text that switches: at a trigger to what begins there, and, if it is the last part of a tag,
 * at the tag's end.
 *
 * Triggers and ends are stops of one lexeme (`lexeme/freetext.ts`). So the text has only one
 * reading, and what follows a trigger begins when the trigger is complete. A branch that begins
 * with a control token follows the text instead.
 */
import type { Rules } from "../ebnf/rules.ts"
import type { Term } from "../ebnf/terms.ts"
import { freeTextLexeme, stopTag } from "../lexeme/freetext.ts"
import { PlainTag } from "../lexeme/table.ts"
import { utf8 } from "../utf8.ts"
import { listAt, type Piece, piecesChoice, spelled, splitPieces } from "./literal.ts"

/** A trigger and its branch. */
export interface Switch {
  readonly trigger: string
  /** The beginning of the branch, including the trigger. */
  readonly begin: readonly Piece[]
  readonly rest: Term
}

export interface FreeText {
  readonly triggers: readonly string[]
  /** Texts that the free text must not contain. */
  readonly excludes: readonly string[]
  /** The ends of the tag around the text. */
  readonly ends: readonly (readonly Piece[])[]
}

/**
 * Returns free text, then a switch and what follows it. With `mayEnd` one of the ends may take the
 * place of the switch.
 */
export function switchingText(
  rules: Rules,
  { triggers, excludes, ends }: FreeText,
  switches: readonly Switch[],
  { mayEnd }: { mayEnd: boolean },
): Term {
  const { terms } = rules
  const stops = new Map<string, Option[]>()
  const others: Option[] = []
  for (const { trigger, begin, rest } of switches) {
    const [front, back] = splitPieces(begin, trigger.length)
    const isText = front.length === 1 && front[0].token === null
    if (isText) listAt(stops, trigger).push([back, rest])
    else others.push([begin, rest])
  }
  const spelledEnds = ends.map(spelled).filter((end) => end !== "")
  const patterns = [...triggers, ...excludes, ...spelledEnds]
  for (const end of mayEnd ? ends : []) {
    const isText = end.length === 1 && end[0].token === null
    if (isText && isClear(end[0].text, patterns)) listAt(stops, end[0].text).push([[], terms.empty])
    else others.push([end, terms.empty])
  }
  const rests = new Map<number, Term>()
  if (others.length > 0) rests.set(PlainTag, piecesChoice(rules, others))
  for (const [stop, options] of stops) rests.set(stopTag(stop), piecesChoice(rules, options))
  // The spelling of a control token is excluded too, because a reader of the text would take it for
  // the token.
  const lexemeOf = (tags: ReadonlySet<number>) => {
    const isStop = (pattern: string) => stops.has(pattern) && tags.has(stopTag(pattern))
    return freeTextLexeme(
      { stops: [...stops.keys()].filter(isStop), excludes: patterns.filter((pattern) => !isStop(pattern)) },
      { mayEnd: tags.has(PlainTag) },
    )
  }
  const shortest = () => {
    const texts = [...stops.keys()].map((stop) => [stopTag(stop), utf8(stop)] as const)
    return new Map([...texts, [PlainTag, utf8("")]])
  }
  return terms.branch(lexemeOf(new Set(rests.keys())), rests, lexemeOf, shortest)
}

type Option = readonly [pieces: readonly Piece[], rest: Term]

/**
 * Returns whether `end` can be a stop like the others: no pattern is complete inside it or at the
 * same place, and no pattern can have begun in front of it. Otherwise the end is read beside the
 * text.
 */
function isClear(end: string, patterns: readonly string[]): boolean {
  return patterns.every((pattern) => {
    if (pattern !== end && (end.includes(pattern) || pattern.endsWith(end))) return false
    for (let length = 1; length < end.length; length++)
      if (pattern.endsWith(end.slice(0, length))) return false
    return true
  })
}
