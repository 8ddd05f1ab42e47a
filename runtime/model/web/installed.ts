/**
 * The installed package onnxruntime-web. It is an optional peer of this package, as it is large and
 * few need it.
 */
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { ModelError } from "../../errors.ts"
import { packageFile } from "../../files.ts"

const web = "onnxruntime-web"

/**
 * Throws ModelError with the command to run if the package is missing. Called before a model is
 * downloaded.
 */
export function requireWeb(): void {
  try {
    createRequire(import.meta.url).resolve(`${web}/webgpu`)
  } catch (cause) {
    throw missingWeb(cause as Error)
  }
}

/** Returns an error that says why the package was not loaded, with the command to run. */
export function missingWeb(cause: Error): ModelError {
  const { code } = cause as NodeJS.ErrnoException
  const { peerDependencies } = JSON.parse(readFileSync(packageFile("package.json"), "utf8"))
  const line = `npm install ${web}@${peerDependencies[web]}`
  const isMissing = code === "MODULE_NOT_FOUND" || code === "ERR_MODULE_NOT_FOUND"
  const what = isMissing ? "is missing" : `cannot be loaded: ${cause.message}`
  return new ModelError(
    `${web} ${what}. The model runtime web needs it. Install it: ${line}. Or choose the model runtime node`,
    { cause },
  )
}
