#!/usr/bin/env node
/** The entry of the program `tokenrail`. */
import { availableParallelism } from "node:os"
import { isBetterRestarted, restart, settle } from "./cli/onecore.ts"

if (isBetterRestarted(availableParallelism(), process.execArgv)) process.exitCode = await restart()
else {
  settle()
  await import("./cli/program.ts")
}
