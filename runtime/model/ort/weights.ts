/**
 * Finds the real paths of a graph's weight files.
 *
 * A graph names such a file by its path from the graph's folder. onnxruntime follows links, and
 * refuses a file that is then outside of that folder. In the cache of the hub every file is a link
 * into `blobs`, where it has another name, so no such model could be opened. Here the names in the
 * graph's bytes are replaced by the targets of the links, relative to the one folder that contains
 * them all: no file is copied or written, and the files are mapped into memory as usual.
 *
 * The purpose of onnxruntime's check is preserved: a link may only lead to the folder of this
 * graph's own file, or into the `blobs` next to the `snapshots` that contain it.
 */

import { lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from "node:fs"
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path"
import { ModelError } from "../../errors.ts"
import { dataFilesOf, renamed } from "./datafiles.ts"

/** A graph in the form that onnxruntime takes. */
export interface PlacedGraph {
  /** Its file, or its bytes if they differ from the file's. */
  readonly model: string | Uint8Array
  /** The folder of its other files. */
  readonly folder: string
}

/**
 * Returns the graph with the real paths. Throws ModelError if a link leads to a path unrelated to
 * this graph, or to no file.
 */
export function placeGraph(path: string): PlacedGraph {
  const folder = dirname(path)
  const asItIs = { model: path, folder }
  let bytes: Uint8Array
  let files: string[]
  try {
    // Reading a graph that contains its weights takes time, and without links all files are in the
    // folder.
    if (readdirSync(folder, { withFileTypes: true }).every((entry) => entry.isFile())) return asItIs
    bytes = readFileSync(path)
    files = dataFilesOf(bytes)
  } catch {
    // The graph is missing, too large for one buffer, or not a graph: onnxruntime reports a clearer
    // error.
    return asItIs
  }
  const inside = files.filter((file) => isBelow(folder, join(folder, file)) && !isAbsolute(file))
  const home = realpathSync(folder)
  const reals = new Map(inside.map((file) => [file, realOf(join(folder, file))]))
  if ([...reals.values()].every((real) => real === undefined || isBelow(home, real))) return asItIs
  const allowed = [home, dirname(realpathSync(path)), ...blobsAbove(home)]
  for (const [file, real] of reals) checkLink(path, join(folder, file), real, allowed)
  const found = [...reals.values()] as string[]
  const common = found.map((real) => dirname(real)).reduce(commonFolder)
  const places = new Map(
    [...reals].map(([file, real]) => [file, relative(common, real!).split(sep).join("/")]),
  )
  return { model: renamed(bytes, (file) => places.get(file) ?? file), folder: common }
}

function checkLink(graph: string, path: string, real: string | undefined, allowed: readonly string[]): void {
  if (real === undefined)
    throw new ModelError(
      `${graph}: its weights in ${path} are missing. Download the graph again, with all its data files`,
    )
  // A file in `blobs` may be a link to another disk: caches are written by programs, not by models.
  const isAllowed = [real, targetOf(path)].some((each) => allowed.some((folder) => isBelow(folder, each)))
  if (isAllowed) return
  throw new ModelError(
    `${graph}: its weights in ${path} are a link to ${real}, outside of the model's folder, which a model from elsewhere could use to read any file. Put the file itself, or a hard link to it, into that place`,
  )
}

/** Returns the direct target of a link, or the path itself if it is not a link. */
function targetOf(path: string): string {
  const folder = realpathSync(dirname(path))
  return lstatSync(path).isSymbolicLink() ? resolve(folder, readlinkSync(path)) : join(folder, basename(path))
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}

/**
 * Returns the `blobs` folder of the cache that has a folder in its `snapshots`; empty if there is
 * none.
 */
function blobsAbove(folder: string): string[] {
  for (let at = folder; dirname(at) !== at; at = dirname(at)) {
    if (basename(at) !== "snapshots") continue
    const real = realOf(join(dirname(at), "blobs"))
    return [join(dirname(at), "blobs"), ...(real === undefined ? [] : [real])]
  }
  return []
}

/** Returns whether a path is inside a folder. */
export function isBelow(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

/**
 * Returns the deepest folder that contains both. Throws ModelError if there is none, on two drives.
 */
function commonFolder(first: string, second: string): string {
  let folder = first
  while (folder !== second && !isBelow(folder, second)) {
    if (dirname(folder) === folder)
      throw new ModelError(
        `weights of one graph are on two drives, in ${first} and in ${second}: put them on one`,
      )
    folder = dirname(folder)
  }
  return folder
}

/** Returns the bytes of a graph and of its existing weight files. */
export function weightBytes(path: string): number {
  const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0
  const own = sizeOf(path)
  // A graph with its weights in other files is small itself.
  if (own > 64 << 20) return own
  try {
    return dataFilesOf(readFileSync(path)).reduce((sum, file) => sum + sizeOf(join(dirname(path), file)), own)
  } catch {
    return own
  }
}
