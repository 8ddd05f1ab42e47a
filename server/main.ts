#!/usr/bin/env node
/** The entry of the program `tokenrail`. */
import { availableParallelism } from "node:os"
import { betterStart, restart, settle } from "./cli/restart.ts"

const { platform, execArgv, env } = process
const better = betterStart({
  cores: availableParallelism(),
  platform,
  execArgv,
  args: process.argv.slice(2),
  env,
})
if (better !== null) process.exitCode = await restart(better)
else {
  settle()
  await import("./cli/program.ts")
}
