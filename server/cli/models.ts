/**
 * `tokenrail models`: lists the models on this machine, whichever program stored them, and whether
 * they can be opened.
 */
import type { Command } from "commander"
import { inspect } from "../../runtime/model/build/prepare.ts"
import { closedFolders, findModels } from "../../runtime/model/hub/inventory.ts"
import { readPlaces } from "../../runtime/model/hub/places.ts"
import { Exit, type Io } from "./exit.ts"
import { examples } from "./helptext.ts"

export function modelsCommand(program: Command, io: Io, done: (code: number) => void): void {
  program
    .command("models")
    .description("list the models on this machine: of the hub, Ollama, LM Studio and llama.cpp")
    .option("--json", "print one JSON object for each model")
    .addHelpText("after", examples("models --json"))
    .action(async ({ json }: { json?: boolean }) => {
      const places = readPlaces(io.env)
      for (const { refusal, ...model } of await findModels(places, inspect)) {
        io.signal.throwIfAborted()
        if (json) {
          const why = refusal === undefined ? {} : { why: refusal }
          io.out(`${JSON.stringify({ ...model, opens: refusal === undefined, ...why })}\n`)
          continue
        }
        const { name, kind, dtypes = [], bytes, path } = model
        const what = [kind, ...dtypes].join(" ")
        const why = refusal === undefined ? "" : `  refused: ${refusal}`
        io.out(`${printable(`${name}  ${what}  ${megabytes(bytes)} MB  ${path}${why}`)}\n`)
      }
      for (const line of await closedFolders(places)) io.err(`tokenrail: ${printable(line)}\n`)
      done(Exit.Ok)
    })
}

/** Returns the line without control characters, because file names are untrusted. */
export function printable(line: string): string {
  return line.replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, "?")
}

export function megabytes(bytes: number): string {
  return bytes < 1e7 ? (bytes / 1e6).toFixed(1) : String(Math.round(bytes / 1e6))
}
