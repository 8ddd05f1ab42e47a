/**
 * safetensors: the length of a header, u64 | the header, JSON: a type, a shape and two offsets for
 * each name
 * | data. A folder has one file, or several and an index with the file of each tensor. The tensors of a
 * file cover its data without gaps and overlaps; checking that also finds a name that occurs twice.
 *
 * Source: the format's description in the README of huggingface/safetensors.
 */

import { existsSync } from "node:fs"
import { join } from "node:path"
import { isObject } from "../../../grammar/options.ts"
import { ModelError } from "../../errors.ts"
import { blockSizes } from "./sizes.ts"
import { bytesOf, damaged, type PlacedTensor, quoted, StoredWeights, WeightsFile } from "./storage.ts"
import type { Weights } from "./weights.ts"

/**
 * Maximum bytes of a header. Those of the largest models take about 10 MB in all parts together.
 */
const maxHeaderBytes = 32 * 2 ** 20
const maxTensors = 65_536
const maxParts = 512
const maxRank = 8
const maxDimension = 2 ** 31

const singleName = "model.safetensors"
const indexName = "model.safetensors.index.json"

/**
 * Opens `model.safetensors` of a folder, or all files that `model.safetensors.index.json` names.
 * Reads headers only. Throws ModelError naming the file and what is wrong with it.
 */
export async function openSafetensors(folder: string): Promise<Weights> {
  const single = join(folder, singleName)
  const index = existsSync(single) ? null : readIndex(join(folder, indexName))
  const paths = index === null ? [single] : [...new Set(index.values())].map((name) => join(folder, name))
  const files: WeightsFile[] = []
  try {
    const tensors = new Map<string, PlacedTensor>()
    for (const path of paths) {
      const file = new WeightsFile(path)
      files.push(file)
      for (const tensor of readHeader(file)) {
        if (tensors.has(tensor.name)) {
          throw new ModelError(`${path}: tensor ${quoted(tensor.name)} is in another part too. ${damaged}`)
        }
        tensors.set(tensor.name, tensor)
      }
    }
    for (const [name, part] of index ?? []) {
      const path = join(folder, part)
      if (tensors.get(name)?.file.path !== path) {
        throw new ModelError(
          `${path}: tensor ${quoted(name)} is not in this part, as ${indexName} has it. ${damaged}`,
        )
      }
    }
    return new StoredWeights(tensors, files)
  } catch (error) {
    for (const file of files) file.close()
    throw error
  }
}

/** Returns the file name of each tensor. */
function readIndex(path: string): Map<string, string> {
  if (!existsSync(path)) {
    throw new ModelError(
      `${path}: there is neither this file nor ${singleName}. Pass a folder with weights as safetensors`,
    )
  }
  const file = new WeightsFile(path)
  try {
    const { weight_map: map } = readJson(file, 0, file.size)
    if (!isObject(map)) throw new ModelError(`${path}: there is no "weight_map". ${damaged}`)
    const parts = new Map<string, string>()
    for (const [name, part] of Object.entries(map)) {
      // It must be a file name and not a path, so that no file outside of the folder is opened.
      if (typeof part !== "string" || !/^[\w-][\w.-]{0,200}\.safetensors$/.test(part)) {
        throw new ModelError(
          `${path}: the part of tensor ${quoted(name)} is not the name of a .safetensors file. ${damaged}`,
        )
      }
      parts.set(name, part)
    }
    const partCount = new Set(parts.values()).size
    if (partCount === 0 || partCount > maxParts) {
      throw new ModelError(`${path}: names ${partCount} parts, not 1 to ${maxParts}. ${damaged}`)
    }
    return parts
  } finally {
    file.close()
  }
}

function readHeader(file: WeightsFile): PlacedTensor[] {
  const fail = (problem: string): never => {
    throw new ModelError(`${file.path}: ${problem}. ${damaged}`)
  }
  if (file.size < 8) fail(`the file has ${file.size} bytes, fewer than the 8 of its first number`)
  const first = new Uint8Array(8)
  file.read(first, 0)
  const view = new DataView(first.buffer)
  const length = view.getUint32(0, true) + view.getUint32(4, true) * 2 ** 32
  const dataStart = 8 + length
  const dataBytes = file.size - dataStart
  if (length > maxHeaderBytes || dataBytes < 0) {
    fail(
      `the header has ${length} bytes by its first number, above ${Math.min(maxHeaderBytes, file.size - 8)}`,
    )
  }
  const entries = Object.entries(readJson(file, 8, length)).filter(([name]) => name !== "__metadata__")
  if (entries.length > maxTensors) fail(`there are ${entries.length} tensors, above ${maxTensors}`)
  const tensors = entries.map(([name, entry]) => ({ ...readTensor(name, entry, fail), file }))
  let end = 0
  for (const tensor of tensors.sort(
    (one, other) => one.offset - other.offset || bytesOf(one) - bytesOf(other),
  )) {
    if (tensor.offset !== end)
      fail(`tensor ${quoted(tensor.name)} begins at byte ${tensor.offset} of the data, not at ${end}`)
    end += bytesOf(tensor)
  }
  if (end !== dataBytes) fail(`the tensors have ${end} bytes, the file has ${dataBytes} of data`)
  return tensors.map((tensor) => ({ ...tensor, offset: dataStart + tensor.offset }))
}

/** Reads a tensor of the header; its offset counts from the start of the data. */
function readTensor(
  name: string,
  entry: unknown,
  fail: (problem: string) => never,
): { name: string; type: string; shape: readonly number[]; offset: number } {
  const what = `tensor ${quoted(name)}`
  const { dtype, shape, data_offsets: offsets } = isObject(entry) ? entry : {}
  // Types with more than one value per block are GGUF's and do not occur here.
  if (typeof dtype !== "string" || blockSizes.get(dtype)?.values !== 1) {
    throw fail(`the type of ${what} is ${quoted(String(dtype))}, which is not known`)
  }
  if (!isCounts(shape, maxDimension) || shape.length > maxRank) {
    throw fail(`the shape of ${what} is not a list of up to ${maxRank} whole numbers up to ${maxDimension}`)
  }
  if (!isCounts(offsets, Number.MAX_SAFE_INTEGER) || offsets.length !== 2) {
    throw fail(`the offsets of ${what} are not two whole numbers`)
  }
  const tensor = { name, type: dtype, shape, offset: offsets[0] }
  if (bytesOf(tensor) !== offsets[1] - offsets[0]) {
    fail(
      `${what} has ${offsets[1] - offsets[0]} bytes by its offsets, ${bytesOf(tensor)} by its type and shape`,
    )
  }
  return tensor
}

function isCounts(value: unknown, bound: number): value is number[] {
  return Array.isArray(value) && value.every((item) => Number.isInteger(item) && item >= 0 && item <= bound)
}

function readJson(file: WeightsFile, offset: number, length: number): Record<string, unknown> {
  if (length > maxHeaderBytes) {
    throw new ModelError(`${file.path}: has ${length} bytes, above ${maxHeaderBytes}. ${damaged}`)
  }
  const bytes = new Uint8Array(length)
  file.read(bytes, offset)
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes))
  } catch {
    // The parser's own message is not used: it quotes the text, which may have several lines.
  }
  if (!isObject(value)) throw new ModelError(`${file.path}: its header is not a JSON object. ${damaged}`)
  return value
}
