import { expect, test } from "vitest"
import { Vocabulary } from "../../../mask/index.ts"
import { Habits } from "../../../runtime/guides/habits.ts"

const pieces = ["{", "\n", '"', '":', ' "', '",', "name", "age", "street", "Ava", "Main", " ", "5", ","]
const vocabulary = Vocabulary.fromBytes(
  pieces.map((piece) => Buffer.from(piece)),
  { endIds: [pieces.length] },
)
const ids = (texts: readonly string[]): number[] => texts.map((text) => pieces.indexOf(text))
const names = ["name", "age", "street"]

function habitsOf(texts: readonly string[]): Habits {
  const habits = new Habits(vocabulary, null, [])
  for (const text of texts) habits.push(pieces.indexOf(text), names.includes(text))
  return habits
}

/** Without what is guessed twice. */
const guessed = (habits: Habits, ahead: readonly string[] = []): (string | undefined)[] => {
  const forced = ahead.map((text) => names.includes(text))
  return [...new Set(habits.guesses(ids(ahead), forced))].map((id) => pieces[id])
}

const first = ["{", "\n", '"', "name", '":', ' "', "Ava", '",', "\n", '"', "age"]

test("a second name is written as the first one was", () => {
  const habits = habitsOf(first)
  expect(guessed(habits)[0]).toBe('":')
  expect(guessed(habits, ['":'])[0]).toBe(' "')
})

test("marks behind marks, along a guess with a name that is forced in it", () => {
  const habits = habitsOf([...first, '":', " ", "5", ","])
  expect(guessed(habits, ["\n", '"', "street"])[0]).toBe('":')
  // A number came last; what came before it is the second guess.
  expect(guessed(habits, ["\n", '"', "street", '":'])).toEqual([" ", ' "'])
})

test("how a word goes on is guessed only where it went on before, behind the same tokens", () => {
  expect(guessed(habitsOf([...first, '":', ' "', "Main"]))).toEqual([])
  expect(guessed(habitsOf([' "', "Main", '",', ' "', "Ava", '",', ' "', "Main", '",', ' "']))).toEqual([
    "Ava",
  ])
})

test("before it has written any, JSON is taken to be written as usual", () => {
  const encode = (): number[] => ids(["{", '"', "name", '":', ' "', "Ava", '",', ' "'])
  const habits = new Habits(vocabulary, encode, ids(["{", '"', "street", '":']))
  expect(guessed(habits)).toEqual([' "'])
  // Its words are nobody's.
  expect(guessed(habits, [' "'])).toEqual([])
})
