/** A few turns in every style over random tools; `turns.ts` runs as many as one likes, over any file of tools. */
import { expect, test } from "vitest"
import { styles } from "../../grammar/tags/styles/all.ts"
import { randomRows } from "./turnrows.ts"
import { soakTurns } from "./turnwalks.ts"

const rows = randomRows(1, 20)

test.each(styles.map((style) => [style.name, style] as const))(
  "%s: every turn is read back, and its calls are what was asked for",
  async (_, style) => {
    const { faults, calls } = await soakTurns(style, { rows, turns: 8, seed: 1 })
    expect(faults).toEqual([])
    expect(calls).toBeGreaterThan(0)
  },
  60_000,
)
