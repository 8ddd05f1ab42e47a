/**
 * Finds GGUF files by a label. A folder or a repository contains one model at several precisions,
 * each as one file or as numbered parts, and users name the precision: `Q4_K_M`. The label is
 * matched against whole words of the file's name.
 */
import { ModelError } from "../../errors.ts"

/** One model: a file, or the parts of a split file. */
export interface GgufModel {
  /** Path of the first part, with slashes. */
  readonly first: string
  /** Paths of all existing parts, in order. */
  readonly parts: readonly string[]
  /** The number of parts according to the file names. */
  readonly partCount: number
}

const splitPattern = /-(\d{5})-of-(\d{5})(?=\.gguf$)/i

/** Matches files that are not models themselves: vision parts, and statistics of a quantizer. */
const besidePattern = /mmproj|imatrix/i

/** Default labels, best first. */
const usualLabels = ["Q4_K_M", "Q4_0", "Q8_0"]

/** Maximum number of models that a refusal lists. */
const maxNamed = 24

/**
 * Returns the models among `paths`, which have slashes, ordered by name. Files that are not GGUF
 * are left out.
 */
export function ggufModels(paths: readonly string[]): GgufModel[] {
  const models = new Map<string, { parts: string[]; partCount: number }>()
  for (const path of [...paths].sort()) {
    if (!/\.gguf$/i.test(path) || besidePattern.test(baseOf(path))) continue
    const partCount = Number(splitPattern.exec(path)?.[2] ?? 1)
    const whole = `${path.replace(splitPattern, "")}/${partCount}`
    const model = models.get(whole) ?? { parts: [], partCount }
    model.parts.push(path)
    models.set(whole, model)
  }
  return [...models.values()].map((model) => ({ ...model, first: model.parts[0] }))
}

/** Returns all parts of the split file that `path` is a part of; otherwise the path alone. */
export function partsOf(path: string): string[] {
  const [, , count] = splitPattern.exec(path) ?? []
  if (count === undefined) return [path]
  const parts = Array.from({ length: Number(count) }, (_, part) => String(part + 1).padStart(5, "0"))
  return parts.map((part) => path.replace(splitPattern, `-${part}-of-${count}`))
}

/** Returns the file's name without its extension and without the number of its part. */
export function stemOf(path: string): string {
  return baseOf(path)
    .replace(splitPattern, "")
    .replace(/\.gguf$/i, "")
}

/**
 * Returns the one of `models` that `label` names; without a label Q4_K_M, else Q4_0, else Q8_0,
 * else the only one. `owner` is the name of the folder or repository in refusals. Throws ModelError
 * that lists the models if none or several match the label.
 */
export function chooseGguf(owner: string, models: readonly GgufModel[], label?: string): GgufModel {
  const chosen =
    label === undefined
      ? (usualLabels.map((each) => matching(models, each)).find((found) => found.length > 0) ?? models)
      : matching(models, label)
  if (chosen.length !== 1) throw ambiguous(owner, models, chosen, label)
  const [{ first, parts, partCount }] = chosen
  if (parts.length !== partCount)
    throw new ModelError(
      `${owner}: only ${parts.length} of ${partCount} parts of ${stemOf(first)} exist. Add the other parts`,
    )
  return chosen[0]
}

/** Returns the shortest label that names only this one of `models`. */
export function labelOf(model: GgufModel, models: readonly GgufModel[]): string {
  const stem = stemOf(model.first)
  const words = [
    ...model.first.matchAll(/(?:^|[^A-Za-z0-9])((?:UD-)?(?:I?Q\d|TQ\d|BF16|F16|F32|MXFP4)\w*)/gi),
  ]
  const isOwn = (label: string) => {
    const found = matching(models, label)
    return found.length === 1 && found[0] === model
  }
  return words.map(([, word]) => word).find(isOwn) ?? (isOwn(stem) ? stem : model.first)
}

/**
 * Returns the models that match the label: as their whole name or path, else as a word of the name,
 * else as a word of the path.
 */
function matching(models: readonly GgufModel[], label: string): readonly GgufModel[] {
  const wanted = label
    .toLowerCase()
    .replace(splitPattern, "")
    .replace(/\.gguf$/, "")
  const pathOf = ({ first }: GgufModel) =>
    first
      .toLowerCase()
      .replace(splitPattern, "")
      .replace(/\.gguf$/, "")
  const word = new RegExp(`(?<![a-z0-9])${wanted.replace(/[^a-z0-9_]/g, "\\$&")}(?![a-z0-9_])`)
  const ways: ((path: string) => boolean)[] = [
    (path) => path === wanted,
    (path) => baseOf(path) === wanted,
    (path) => word.test(baseOf(path)),
    (path) => word.test(path),
  ]
  const found = ways.map((way) => models.filter((model) => way(pathOf(model))))
  return found.find((each) => each.length > 0) ?? []
}

function ambiguous(
  owner: string,
  models: readonly GgufModel[],
  chosen: readonly GgufModel[],
  label: string | undefined,
): ModelError {
  if (models.length === 0) return new ModelError(`${owner}: there is no GGUF model in it. Choose another one`)
  const shown = chosen.length > 0 ? chosen : models
  const names = shown.slice(0, maxNamed).map((model) => labelOf(model, models))
  const more = shown.length > maxNamed ? `, and ${shown.length - maxNamed} more` : ""
  const what =
    label === undefined
      ? `there are ${shown.length} GGUF models and none is ${usualLabels.join(", ")} alone`
      : chosen.length > 0
        ? `${chosen.length} GGUF models have ${label} in their names`
        : `no GGUF model has ${label} in its name`
  return new ModelError(
    `${owner}: ${what}. Name one by its label after a colon, or by its path: ${names.join(", ")}${more}`,
  )
}

function baseOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1)
}
