/**
 * Free text that switches: at a trigger to what begins there, and, where it is the last thing of a tag, at the end of the tag.
 *
 * Triggers and ends are stops of one lexeme (`lexeme/freetext.ts`), so while text is read there is one reading of it, and what is
 * behind a trigger is met when the trigger is complete. What begins with a control token follows the text instead.
 */
import type { Rules } from "../ebnf/rules.ts"
import type { Term } from "../ebnf/terms.ts"
import { freeTextLexeme, stopTag } from "../lexeme/freetext.ts"
import { PlainTag } from "../lexeme/table.ts"
import { utf8 } from "../utf8.ts"
import { listAt, type Piece, piecesChoice, spelled, splitPieces } from "./literal.ts"

/** What a trigger begins. */
export interface Switch {
  readonly trigger: string
  /** How it begins, the trigger included. */
  readonly begin: readonly Piece[]
  readonly rest: Term
}

export interface FreeText {
  readonly triggers: readonly string[]
  /** Texts that the free text does not hold. */
  readonly excludes: readonly string[]
  /** What ends the tag around it. */
  readonly ends: readonly (readonly Piece[])[]
}

/** Free text, a switch, and what follows it; with `mayEnd` also free text and one of its ends. */
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
  // The spelling of a control token is excluded too: whoever reads the text would take it for the token.
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
 * Whether `end` is read as a stop like any other: no pattern can be complete inside of it, or together with it, and nothing that
 * may be text can have begun one. Else it is read beside the text.
 */
function isClear(end: string, patterns: readonly string[]): boolean {
  return patterns.every((pattern) => {
    if (pattern !== end && (end.includes(pattern) || pattern.endsWith(end))) return false
    for (let length = 1; length < end.length; length++)
      if (pattern.endsWith(end.slice(0, length))) return false
    return true
  })
}
