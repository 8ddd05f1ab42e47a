#!/usr/bin/env node
/** The entry of the program `tokenrail`. */
import { availableParallelism } from "node:os"
import { endWithParent, isBetterRestarted, restart } from "./onecore.ts"

if (isBetterRestarted(availableParallelism(), process.execArgv)) process.exitCode = await restart()
else {
  endWithParent()
  await import("./program.ts")
}
