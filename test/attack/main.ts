/**
 * The attack: every program in turn, each in a process of its own. Exit 1 when one of them failed.
 *
 * Usage: `npm run attack -- [--schemas 300] [--mutants 10000] [--streams 600] [--soak MINUTES]`. The long run is left out
 * unless it is asked for.
 */
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"

const { values: flags } = parseArgs({
  options: {
    schemas: { type: "string", default: "300" },
    mutants: { type: "string", default: "10000" },
    streams: { type: "string", default: "600" },
    soak: { type: "string" },
  },
})

const programs: [name: string, args: string[]][] = [
  ["kinds", []],
  ["schemas", ["--count", flags.schemas]],
  ["mutants", ["--count", flags.mutants]],
  ["streams", ["--count", flags.streams]],
  ["compilations", []],
  ...(flags.soak === undefined ? [] : [["soak", [flags.soak]] satisfies [string, string[]]]),
]
const failed = programs.filter(([name, args]) => {
  console.log(`\n# ${name}`)
  const file = fileURLToPath(new URL(`./${name}.js`, import.meta.url))
  return spawnSync(process.execPath, [file, ...args], { stdio: "inherit" }).status !== 0
})
console.log(failed.length === 0 ? "\nall passed" : `\nfailed: ${failed.map(([name]) => name).join(", ")}`)
process.exitCode = failed.length === 0 ? 0 : 1
