/**
 * Begins a new world of tables at each compilation, for `WORLDS=each`: whoever walks a grammar
 * without entering its world then fails.
 */
import { beforeAll } from "vitest"
import { setTableBytes } from "../../grammar/worlds.ts"

beforeAll(() => {
  setTableBytes(0)
})
