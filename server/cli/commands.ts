/** All commands of the program, in the groups in which --help lists them. */
import { Command } from "commander"
import { version } from "../version.ts"
import { benchCommand } from "./bench.ts"
import { cacheCommand } from "./cache.ts"
import { chatCommand } from "./chat/command.ts"
import { checkCommand } from "./check.ts"
import { compileCommand } from "./compile.ts"
import { completionCommand } from "./completion.ts"
import { conformanceCommand } from "./conformance.ts"
import { doctorCommand } from "./doctor.ts"
import type { Io } from "./exit.ts"
import { generateCommand } from "./generate.ts"
import { modelsCommand } from "./models.ts"
import { pullCommand } from "./pull.ts"
import { serveCommand } from "./serve.ts"

const commandGroups = {
  "Answers:": [serveCommand, generateCommand, chatCommand],
  "Constraints:": [checkCommand, compileCommand],
  "Models and installation:": [pullCommand, modelsCommand, cacheCommand, doctorCommand, completionCommand],
  "Measurements:": [conformanceCommand, benchCommand],
} as const

/** Returns the program. `done` gets the exit code of the command that has run. */
export function createProgram(io: Io, done: (code: number) => void): Command {
  const program = new Command("tokenrail")
    .description(
      "makes a language model write only what a JSON Schema, a regular expression or a choice allows",
    )
    .version(version)
    .exitOverride()
  for (const [heading, commands] of Object.entries(commandGroups)) {
    program.commandsGroup(heading)
    for (const add of commands) add(program, io, done)
  }
  return program
}
