/**
 * `tokenrail cache`: lists the models that were converted from GGUF and safetensors; `--clear`
 * removes them. Files downloaded from the hub are not touched.
 */
import type { Command } from "commander"
import { type BuiltModel, BuiltModels } from "../../runtime/model/build/cache.ts"
import { readPlaces } from "../../runtime/model/hub/places.ts"
import { Exit, type Io, UsageError } from "./exit.ts"
import { examples } from "./helptext.ts"
import { megabytes, printable } from "./models.ts"

interface Flags {
  json?: boolean
  clear?: boolean | string
}

export function cacheCommand(program: Command, io: Io, done: (code: number) => void): void {
  program
    .command("cache")
    .description("list the models converted from GGUF and safetensors, with their sizes")
    .option("--clear [name]", "remove all of them, or the one with this name, path or key")
    .option("--json", "print one JSON object for each")
    .addHelpText("after", examples("cache", "cache --clear"))
    .action(async ({ json, clear }: Flags) => {
      const built = new BuiltModels(readPlaces(io.env).built)
      const all = await built.list()
      const chosen = typeof clear === "string" ? all.filter((model) => isNamed(model, clear)) : all
      if (typeof clear === "string" && chosen.length === 0)
        throw new UsageError(`${built.root} has no model ${clear}. \`tokenrail cache\` lists its models`)
      for (const model of chosen) {
        if (clear !== undefined) await built.remove(model)
        io.out(json ? `${JSON.stringify(fields(model))}\n` : `${printable(describe(model))}\n`)
      }
      if (clear !== undefined) await built.sweep()
      if (!json) {
        const bytes = chosen.reduce((sum, model) => sum + model.bytes, 0)
        const what = clear === undefined ? "" : "removed: "
        io.err(`${what}${chosen.length} models, ${megabytes(bytes)} MB, in ${built.root}\n`)
      }
      done(Exit.Ok)
    })
}

function fields({ key, path, info, bytes, isStale }: BuiltModel) {
  const { name, kind, source, dtype } = info ?? {}
  return { key, path, name, kind, source, dtype, bytes, stale: isStale }
}

function describe({ key, info, bytes, isStale }: BuiltModel): string {
  const what = info === null ? "unknown" : `${info.name}  ${info.kind} ${info.dtype}`
  const from = info === null ? "" : `  ${info.source}`
  return `${what}  ${megabytes(bytes)} MB  ${key.slice(0, 12)}${from}${isStale ? ", which is gone" : ""}`
}

/**
 * Returns whether `name` is the name, the source or the key of the model. A key may be shortened to
 * its printed form.
 */
function isNamed({ key, info }: BuiltModel, name: string): boolean {
  return info?.name === name || info?.source === name || (name.length >= 8 && key.startsWith(name))
}
