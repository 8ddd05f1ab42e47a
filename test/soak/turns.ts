/**
 * Turns of models with random weights over a file of tools, or over random tools: what `turnwalks.ts` says holds in each style.
 *
 * Usage: `node dist/test/soak/turns.js [--tools TOOLS.jsonl] [--turns 500] [--styles NAME,NAME] [--seed 1] [--json]`. A line is
 * `{"tools": [...]}` with tools as chat requests have them. Exit 1 on any fault.
 */
import { readFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { styles } from "../../grammar/tags/styles/all.ts"
import { randomRows } from "./turnrows.ts"
import { soakTurns, type TurnTool } from "./turnwalks.ts"

const { values: flags } = parseArgs({
  options: {
    tools: { type: "string" },
    turns: { type: "string", default: "500" },
    styles: { type: "string" },
    seed: { type: "string", default: "1" },
    json: { type: "boolean", default: false },
  },
})

const seed = Number(flags.seed)
const rows = flags.tools === undefined ? randomRows(seed, 200) : readRows(flags.tools)
const names = flags.styles?.split(",") ?? styles.map(({ name }) => name)
for (const style of styles.filter(({ name }) => names.includes(name))) {
  const begin = performance.now()
  const { faults, refusals, ...counts } = await soakTurns(style, { rows, turns: Number(flags.turns), seed })
  const seconds = Math.round((performance.now() - begin) / 1000)
  const figures = { style: style.name, ...counts, wrong: faults.length, seconds }
  if (flags.json) console.log(JSON.stringify({ ...figures, faults, refusals }))
  else {
    console.log(JSON.stringify(figures))
    for (const refusal of refusals) console.log(`  refused, ${refusal}`)
    for (const fault of faults) console.log(`  ${fault}`)
  }
  if (faults.length > 0) process.exitCode = 1
}

function readRows(path: string): TurnTool[][] {
  const lines = readFileSync(path, "utf8").split("\n").filter(Boolean)
  return lines.map((line) => JSON.parse(line).tools)
}
