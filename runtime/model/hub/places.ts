/**
 * The folders in which other programs keep models on this machine, and in which this one keeps the
 * directories that it has built from them.
 *
 * Ollama: `OLLAMA_MODELS`, else the user's folder and, on Linux, that of the service. LM Studio:
 * the home that its pointer file names, the folder of its settings, and the older one. llama.cpp:
 * `LLAMA_CACHE`, else the caches of the system.
 */
import { readFileSync, statSync } from "node:fs"
import { homedir } from "node:os"
import { join, resolve } from "node:path"
import { readHubSettings } from "./name.ts"

export interface Places {
  readonly hub: string
  /** Folders with `manifests` and `blobs`. */
  readonly ollama: readonly string[]
  /** Folders with `<publisher>/<repo>`. */
  readonly lmStudio: readonly string[]
  /** A folder of files. */
  readonly llamaCpp: string
  /** Model directories that were built from GGUF and safetensors. */
  readonly built: string
}

type Environment = Readonly<Record<string, string | undefined>>

/** Returns the folders that follow from `env` and `home`, whether or not they exist. */
export function readPlaces(
  env: Environment,
  home = homedir(),
  platform: NodeJS.Platform = process.platform,
): Places {
  const said = (name: string) => env[name]?.trim() || undefined
  const cache = said("XDG_CACHE_HOME") ?? join(home, ".cache")
  const ollama = said("OLLAMA_MODELS")
  const service = platform === "linux" ? ["/usr/share/ollama/.ollama/models"] : []
  const caches: Partial<Record<NodeJS.Platform, string>> = {
    darwin: join(home, "Library/Caches"),
    win32: said("LOCALAPPDATA") ?? join(home, "AppData/Local"),
  }
  return {
    hub: readHubSettings(env).cache,
    ollama: ollama === undefined ? [join(home, ".ollama/models"), ...service] : [ollama],
    lmStudio: lmStudioFolders(home),
    llamaCpp: said("LLAMA_CACHE") ?? join(caches[platform] ?? cache, "llama.cpp"),
    built: join(cache, "tokenrail/models"),
  }
}

function lmStudioFolders(home: string): string[] {
  const pointed = readShort(join(home, ".lmstudio-home-pointer"))?.split("\n")[0].trim()
  const homes = [
    ...(pointed ? [resolve(pointed)] : []),
    join(home, ".lmstudio"),
    join(home, ".cache/lm-studio"),
  ]
  const folders = homes.flatMap((each) => [...downloadsFolder(each), join(each, "models")])
  return [...new Set(folders)]
}

/**
 * Returns the folder that is set in the settings of LM Studio's home; empty if none is set there.
 */
function downloadsFolder(home: string): string[] {
  try {
    const { downloadsFolder } = JSON.parse(readShort(join(home, "settings.json")) ?? "{}")
    return typeof downloadsFolder === "string" && downloadsFolder !== ""
      ? [resolve(home, downloadsFolder)]
      : []
  } catch {
    return []
  }
}

/** Returns the text of a file of at most 1 MB; null if it cannot be read. */
function readShort(path: string): string | null {
  try {
    const found = statSync(path)
    return found.isFile() && found.size <= 2 ** 20 ? readFileSync(path, "utf8") : null
  } catch {
    return null
  }
}
