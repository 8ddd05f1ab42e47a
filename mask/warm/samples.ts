/**
 * Constraints of many kinds with texts that satisfy them, for warming up: what a round holds.
 *
 * They are derived from word lists by seeded choices (`samples/`), so that each round has names, bounds and structures of
 * its own: what one round has left in a cache answers nothing of the next.
 */
import { Dice } from "./samples/dice.ts"
import { drafts, library } from "./samples/drafts.ts"
import { lists } from "./samples/lists.ts"
import { logic } from "./samples/logic.ts"
import { type Notation, notations } from "./samples/notations.ts"
import { numbers, spellings } from "./samples/numbers.ts"
import { overlaps } from "./samples/overlaps.ts"
import { anyObject, deepObject, dictionary, wideObject } from "./samples/records.ts"
import { type Shape, styles, textOf } from "./samples/shape.ts"
import { formatNames, formatted, patternCount, patterned, usualFormats } from "./samples/strings.ts"

export interface Sample {
  readonly schema: unknown
  /** JSON texts that satisfy it, in different white space. */
  readonly texts: readonly string[]
}

/** The samples of a round that are no JSON. */
export function grammars(round: number): Notation[] {
  return notations(new Dice(round))
}

/** The samples of a round that are JSON. */
export function samples(round: number): Sample[] {
  const dice = new Dice(round)
  return shapes(dice, round).map((shape, i) => ({
    schema: shape.schema,
    texts: [i + round, i + round + 1].map((k) => textOf(shape.value(), styles[k % styles.length])),
  }))
}

/** Formats in one sample. */
const formatGroup = 2

function shapes(dice: Dice, round: number): Shape[] {
  // What a later round has again, every `size`-th of a list comes in each.
  const turn = <T>(list: readonly T[], size: number) => list.filter((_, i) => (i + round) % size === 0)
  const patterns = Array.from({ length: patternCount }, (_, i) => i)
  const objects = (count: number, depth: number) =>
    Array.from({ length: count }, () => anyObject(dice, depth, dice.from(3, 14)))
  return [
    anyObject(dice, 2, dice.from(6, 12)),
    ...objects(12, 2),
    // The tables of all formats are made in the first round, a few at a time: nobody is to wait for all of them.
    ...groups(round === 0 ? formatNames : turn(usualFormats, 3), formatGroup).map((names) =>
      together(
        dice,
        "format",
        names.map((name) => formatted(dice, name)),
      ),
    ),
    together(
      dice,
      "pattern",
      turn(patterns, 6).map((i) => patterned(dice, i)),
    ),
    together(
      dice,
      "number",
      turn(numbers, 5).map((number) => number(dice)),
    ),
    together(
      dice,
      "spelling",
      turn(spellings, 3).map((number) => number(dice)),
    ),
    ...turn(lists, 2).map((list) => list(dice)),
    ...turn(logic, 2).map((each) => each(dice)),
    ...turn(overlaps, 2).map((each) => each(dice)),
    ...turn(drafts, 2).map((draft) => draft(dice)),
    wideObject(dice, dice.from(25, 70)),
    dictionary(dice, 1),
    dictionary(dice, 0),
    deepObject(dice, dice.from(3, 7)),
    ...objects(4, 3),
    ...Array.from({ length: 6 }, () => library(dice)),
    {
      schema: true,
      value: () => ({
        [dice.name()]: [1, "two", { three: false, [dice.name()]: dice.sentence() }],
        é: "\u2028 \\ \u0001",
      }),
    },
  ]
}

function groups<Item>(list: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size))
}

/** An object with a property for each of `parts`. */
function together(dice: Dice, prefix: string, parts: readonly Shape[]): Shape {
  const names = parts.map((_, i) => `${prefix}${i}${dice.noun()}`)
  return {
    schema: {
      type: "object",
      properties: Object.fromEntries(names.map((name, i) => [name, parts[i].schema])),
      additionalProperties: false,
    },
    value: () => Object.fromEntries(names.map((name, i) => [name, parts[i].value()])),
  }
}
