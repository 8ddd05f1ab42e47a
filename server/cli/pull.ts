/**
 * `tokenrail pull`: downloads a model of the hub, or one of its GGUF files.
 */
import { type Command, Option } from "commander"
import type { ModelProgress } from "../../runtime/index.ts"
import { dtypes } from "../../runtime/model/directory.ts"
import { readHubName, readHubSettings } from "../../runtime/model/hub/name.ts"
import { pullModel } from "../../runtime/model/hub/pull.ts"
import { Exit, type Io, UsageError } from "./exit.ts"
import { examples } from "./helptext.ts"

export function pullCommand(program: Command, io: Io, done: (code: number) => void): void {
  program
    .command("pull")
    .description("download a model of the hub, and print its path")
    .argument("<name>", "<org>/<name>[@revision][:label]; the label names a GGUF file: Q4_K_M")
    .addOption(new Option("--dtype <name>", "type of the weights (default: fp32)").choices(dtypes))
    .addHelpText("after", examples("pull bartowski/SmolLM2-135M-Instruct-GGUF:Q4_K_M"))
    .action(async (text: string, { dtype }: { dtype?: string }) => {
      const name = readHubName(text)
      if (name === null) throw new UsageError(`${text} is not a model name: <org>/<name>[@revision][:label]`)
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

/**
 * Writes the progress of a download or a conversion to standard error, ten times a second; on a
 * terminal only.
 */
export function progressBar(io: Io): { show: (progress: ModelProgress) => void; end: () => void } {
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
