/**
 * `tokenrail pull`: a model of the hub, brought to this machine. `tokenrail models`: those that are here.
 */
import { type Command, Option } from "commander"
import type { DownloadProgress } from "../../runtime/index.ts"
import { dtypes, graphsAmong } from "../../runtime/model/directory.ts"
import { HubCache } from "../../runtime/model/hub/cache.ts"
import { readHubName, readHubSettings } from "../../runtime/model/hub/name.ts"
import { pullModel } from "../../runtime/model/hub/pull.ts"
import { Exit, type Io, UsageError } from "./exit.ts"

export function pullCommand(program: Command, io: Io, done: (code: number) => void): void {
  program
    .command("pull")
    .description("bring a model of the hub to this machine, and print its directory")
    .argument("<name>", "<org>/<name>[@revision]")
    .addOption(new Option("--dtype <name>", "type of the weights (default: fp32)").choices(dtypes))
    .action(async (text: string, { dtype }: { dtype?: string }) => {
      const name = readHubName(text)
      if (name === null) throw new UsageError(`${text} is no name of a model: <org>/<name>[@revision]`)
      const bar = progressBar(io)
      const log = (line: string) => io.err(`${line}\n`)
      const options = { dtype, signal: io.signal, onProgress: bar.show, log }
      try {
        io.out(`${await pullModel(name, readHubSettings(io.env), options)}\n`)
      } finally {
        bar.end()
      }
      done(Exit.Ok)
    })
}

export function modelsCommand(program: Command, io: Io, done: (code: number) => void): void {
  program
    .command("models")
    .description("list the models of the hub that are on this machine")
    .option("--json", "print one JSON object a model")
    .action(async ({ json }: { json?: boolean }) => {
      const { cache } = readHubSettings(io.env)
      for (const { files, ...model } of await new HubCache(cache).models()) {
        const found = graphsAmong(files).map(({ dtype }) => dtype)
        // What has no graph is for other tools.
        if (found.length === 0) continue
        if (json) io.out(`${JSON.stringify({ ...model, dtypes: found })}\n`)
        else {
          const { name, revisions, commit, bytes, path } = model
          const revision = revisions.length > 0 ? revisions.join(", ") : commit.slice(0, 8)
          io.out(`${name}  ${revision}  ${found.join(", ")}  ${Math.round(bytes / 1e6)} MB  ${path}\n`)
        }
      }
      done(Exit.Ok)
    })
}

/** A line of standard error that says how far a download is, ten times a second; for a terminal only. */
export function progressBar(io: Io): { show: (progress: DownloadProgress) => void; end: () => void } {
  const width = 30
  let shownAt = Number.NEGATIVE_INFINITY
  let isShown = false
  return {
    show({ file, doneBytes, allBytes }) {
      const now = performance.now()
      if (!io.isTerminal || (now - shownAt < 100 && doneBytes < allBytes)) return
      shownAt = now
      isShown = true
      const filled = Math.floor((width * doneBytes) / Math.max(1, allBytes))
      const bar = "#".repeat(filled).padEnd(width, ".")
      io.err(`\r[${bar}] ${megabytes(doneBytes)} of ${megabytes(allBytes)} MB  ${file}\x1b[K`)
    },
    end() {
      if (isShown) io.err("\n")
    },
  }
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1)
}
