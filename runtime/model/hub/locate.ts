/**
 * Finds a model's files on this machine by the name that a user gives, and downloads them if
 * necessary.
 */
import { stat } from "node:fs/promises"
import { locateLmStudio, readLmStudioName } from "./lmstudio.ts"
import { readHubName, readHubSettings, spellName } from "./name.ts"
import { locateOllama, readOllamaName, spellOllamaName } from "./ollama.ts"
import { type Places, readPlaces } from "./places.ts"
import { type PullOptions, pullModel } from "./pull.ts"
import { ggufSource, type ModelSource, sourceAt } from "./source.ts"

export interface LocatedModel {
  /** The model directory; if `source` is not null, the folder or the file of its weights. */
  readonly path: string
  /** The model's name in API requests; undefined: the directory's name. */
  readonly id: string | undefined
  /** The weights from which the model directory is built; null if `path` is a model directory. */
  readonly source: ModelSource | null
}

export interface LocateOptions extends PullOptions {
  readonly offline?: boolean | undefined
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  readonly places?: Places | undefined
}

/**
 * Finds the files of a model by its name: a path; `ollama:<name>`;
 * `lmstudio:<publisher>/<repo>[:label]`; `<org>/<name>[@revision][:label]` of the hub. Throws
 * ModelError if there is no such model or if several files have the name, and in the cases of
 * `pullModel`.
 */
export async function locateModel(model: string, options: LocateOptions = {}): Promise<LocatedModel> {
  const { offline = false, env = process.env, places = readPlaces(env), ...pull } = options
  const isPath = (await stat(model).catch(() => null)) !== null
  const [, scheme, rest] = (isPath ? null : /^(ollama|lmstudio):(.*)$/s.exec(model)) ?? []
  if (scheme === "ollama") {
    const name = readOllamaName(rest)
    const path = await locateOllama(name, places.ollama)
    return named(spellOllamaName(name), ggufSource(path))
  }
  if (scheme === "lmstudio") {
    const name = readLmStudioName(rest)
    const path = await locateLmStudio(name, places.lmStudio)
    const source = await sourceAt(path, name.label)
    return source === null ? { path, id: name.name, source } : named(rest, source)
  }
  const hubName = isPath ? null : readHubName(model)
  if (hubName === null) return { path: model, id: undefined, source: await sourceAt(model) }
  const settings = readHubSettings(env)
  const path = await pullModel(hubName, { ...settings, isOffline: offline || settings.isOffline }, pull)
  const source = await sourceAt(path)
  const id = spellName({ ...hubName, revision: "main" })
  return source === null ? { path, id, source } : named(id, source)
}

function named(name: string, source: ModelSource): LocatedModel {
  return { path: source.path, id: name, source: { ...source, name } }
}
