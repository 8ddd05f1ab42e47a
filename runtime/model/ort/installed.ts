/**
 * The installed package onnxruntime-node, and its settings before it is loaded.
 *
 * It is optional, because its install script downloads more files from another host: if that host
 * cannot be reached, npm silently drops the package. The package itself contains everything that is
 * needed here, so it is installed without its script.
 *
 * Version 1.30 and later write a telemetry database into the user's cache at each start, and send
 * it, unless `ORT_DISABLE_TELEMETRY` is set. The library reads the environment of the process, and
 * a thread can set only its own copy.
 */
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { isMainThread } from "node:worker_threads"
import { ModelError } from "../../errors.ts"
import { packageFile } from "../../files.ts"

const ort = "onnxruntime-node"
const telemetry = "ORT_DISABLE_TELEMETRY"

/**
 * Throws ModelError with the command to run if the package is missing. Called before a model is
 * downloaded.
 */
export function requireOrt(): void {
  try {
    createRequire(import.meta.url).resolve(ort)
  } catch (cause) {
    throw missingOrt(cause as Error)
  }
}

/** Returns an error that says why the package was not loaded, with the command to run. */
export function missingOrt(cause: Error): ModelError {
  const { code } = cause as NodeJS.ErrnoException
  const line = installLine()
  return new ModelError(
    code === "MODULE_NOT_FOUND" || code === "ERR_MODULE_NOT_FOUND"
      ? `${ort} is missing: where its install script cannot reach its host, npm leaves it out without a message. Install it without scripts: ${line} (in a POSIX shell also: ONNXRUNTIME_NODE_INSTALL=skip ${line.replace(" --ignore-scripts", "")})`
      : `${ort} cannot be loaded: ${cause.message}. It runs on Linux with glibc, on macOS and on Windows. Where it should, install it again: ${line}`,
    { cause },
  )
}

/** Returns the command that installs the package next to this one, without its script. */
export function installLine(): string {
  const { optionalDependencies } = JSON.parse(readFileSync(packageFile("package.json"), "utf8"))
  return `npm install --ignore-scripts ${ort}@${optionalDependencies[ort]}`
}

/**
 * Turns the telemetry of onnxruntime off in this process, unless its environment has the variable.
 * Returns null, or why this may not suffice.
 */
export function muteTelemetry(): string | null {
  if (process.env[telemetry] !== undefined) return null
  process.env[telemetry] = "1"
  return isMainThread
    ? null
    : `the model is opened in a thread, whose environment onnxruntime does not read: set ${telemetry}=1 for the process, or its telemetry is on`
}
