/**
 * Keeps one world of tables in the tests of the pure floors: some of them hold expressions and
 * lexemes of their own, which belong to the world in which they were made. With `WORLDS=each` each
 * compilation begins a new world: whoever walks a grammar without entering its world then fails.
 */
import { beforeAll } from "vitest"
import { setTableBytes } from "../../grammar/worlds.ts"

beforeAll(() => {
  setTableBytes(process.env.WORLDS === "each" ? 0 : Number.POSITIVE_INFINITY)
})
