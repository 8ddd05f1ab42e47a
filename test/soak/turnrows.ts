/** Lists of random tools, for turns without a file of them. */
import { RandomTools } from "../grammar/tags/styles/randomtools.ts"
import { randomOf } from "../support/oracle.ts"
import type { TurnTool } from "./turnwalks.ts"

/** Each of one to four tools. */
export function randomRows(seed: number, count: number): TurnTool[][] {
  const random = randomOf(seed)
  const source = new RandomTools(random)
  return Array.from({ length: count }, () =>
    source.tools(1 + Math.floor(random() * 4)).map((tool) => ({ type: "function", function: tool })),
  )
}
