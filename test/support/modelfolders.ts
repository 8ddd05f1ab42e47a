/** Folders of models as Ollama and LM Studio lay them out. */
import { createHash } from "node:crypto"
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"

export interface Layer {
  readonly type: string
  readonly content: Uint8Array | string
  /** Its digest and size, where they are to be other ones than its content's. */
  readonly digest?: unknown
  readonly size?: number
}

/** A manifest's layer, whose content lies among the blobs. */
export function writeLayer(folder: string, { type, content, ...said }: Layer): Record<string, unknown> {
  const hex = createHash("sha256").update(content).digest("hex")
  mkdirSync(join(folder, "blobs"), { recursive: true })
  writeFileSync(join(folder, "blobs", `sha256-${hex}`), content)
  const mediaType = `application/vnd.ollama.image.${type}`
  return { mediaType, digest: `sha256:${hex}`, size: Buffer.byteLength(content), ...said }
}

/** Writes a model into a folder of Ollama's; `place` is `<host>/<namespace>/<model>/<tag>`. */
export function writeOllamaModel(folder: string, place: string, layers: readonly Layer[]): void {
  const written = layers.map((layer) => writeLayer(folder, layer))
  const config = writeLayer(folder, { type: "config", content: `{"model_format":"gguf","at":"${place}"}` })
  writeManifest(join(folder, "manifests", place), manifestOf(config, written))
}

export function manifestOf(config: object, layers: readonly object[]): Record<string, unknown> {
  const mediaType = "application/vnd.docker.distribution.manifest.v2+json"
  const own = { ...config, mediaType: "application/vnd.docker.container.image.v1+json" }
  return { schemaVersion: 2, mediaType, config: own, layers }
}

export function writeManifest(path: string, manifest: unknown): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, typeof manifest === "string" ? manifest : JSON.stringify(manifest))
}

/** As newer servers keep it: the manifest is a blob too, and its name is a link to it. */
export function linkManifest(folder: string, place: string, manifest: unknown): string {
  const content = JSON.stringify(manifest)
  const hex = createHash("sha256").update(content).digest("hex")
  const blob = join(folder, "blobs", `sha256-${hex}`)
  mkdirSync(dirname(blob), { recursive: true })
  writeFileSync(blob, content)
  const path = join(folder, "manifests-v2", place)
  mkdirSync(dirname(path), { recursive: true })
  symlinkSync(relative(dirname(path), blob), path)
  return `sha256:${hex}`
}
