/**
 * Reads the name of a model of the hub, and the environment variables that say where the hub and
 * its cache on this machine are. They are those of the hub's own tools
 * (https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables).
 */
import { readFileSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"

/**
 * `name` is `<org>/<name>`; `revision` is a branch, a tag or a commit. A label chooses the one of
 * the model's GGUF files that has the label in its name.
 */
export interface HubName {
  readonly name: string
  readonly revision: string
  readonly label?: string | undefined
}

const part = "[A-Za-z0-9][A-Za-z0-9._-]{0,95}"
const path = "[A-Za-z0-9][A-Za-z0-9._/-]{0,199}"
const namePattern = new RegExp(`^(${part}/${part})(?:@(${path}))?(?::(${path}))?$`)

/** Reads `<org>/<name>[@revision][:label]`; returns null if the text is not such a name. */
export function readHubName(text: string): HubName | null {
  const found = namePattern.exec(text)
  if (found === null || text.includes("..")) return null
  return { name: found[1], revision: found[2] ?? "main", ...(found[3] && { label: found[3] }) }
}

/** Returns the name as a user writes it. */
export function spellName({ name, revision, label }: HubName): string {
  return `${name}${revision === "main" ? "" : `@${revision}`}${label === undefined ? "" : `:${label}`}`
}

export interface HubSettings {
  /**
   * Folder of the cache: `HF_HUB_CACHE`, else `hub` in `HF_HOME`, else `~/.cache/huggingface/hub`.
   */
  readonly cache: string
  /** Address of the hub: `HF_ENDPOINT`, without a slash at its end. */
  readonly endpoint: string
  /** `HF_TOKEN`, else the token that a login has stored in `HF_HOME`. */
  readonly token: string | undefined
  /** Whether only models on this machine are used: `HF_HUB_OFFLINE`. */
  readonly isOffline: boolean
}

/** Returns the settings in `env`. */
export function readHubSettings(env: Readonly<Record<string, string | undefined>>): HubSettings {
  const said = (name: string) => env[name]?.trim() || undefined
  const home = said("HF_HOME") ?? join(said("XDG_CACHE_HOME") ?? join(homedir(), ".cache"), "huggingface")
  return {
    cache: said("HF_HUB_CACHE") ?? join(home, "hub"),
    endpoint: (said("HF_ENDPOINT") ?? "https://huggingface.co").replace(/\/+$/, ""),
    token: said("HF_TOKEN") ?? storedToken(said("HF_TOKEN_PATH") ?? join(home, "token")),
    isOffline: /^(1|on|yes|true)$/i.test(said("HF_HUB_OFFLINE") ?? ""),
  }
}

function storedToken(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim() || undefined
  } catch {
    return undefined
  }
}
