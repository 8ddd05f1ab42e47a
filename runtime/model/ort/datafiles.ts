/**
 * The names of the files in which an ONNX graph keeps weights: read, and replaced by others.
 * Weights inside the graph are skipped.
 */

import { concatenate } from "../../../grammar/bytes.ts"
import { fieldsOf, message, textOf } from "./onnx.ts"

const encoder = new TextEncoder()

/** Messages of onnx.proto3 that can contain tensors, and the fields that lead to them. */
type Kind = "model" | "graph" | "node" | "function" | "attribute" | "sparse" | "tensor" | "entry"
const inner: Readonly<Record<Kind, Readonly<Record<number, Kind>>>> = {
  model: { 7: "graph", 25: "function" },
  graph: { 1: "node", 5: "tensor", 15: "sparse" },
  function: { 7: "node", 11: "attribute" },
  node: { 5: "attribute" },
  attribute: { 5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse" },
  sparse: { 1: "tensor", 2: "tensor" },
  tensor: { 13: "entry" },
  entry: {},
}

/** Maximum depth of nested graphs that onnxruntime reads. */
const maxDepth = 100

/**
 * Returns the names of the files in which a graph keeps weights. Throws RangeError if the bytes are
 * not an ONNX model.
 */
export function dataFilesOf(model: Uint8Array): string[] {
  const files = new Set<string>()
  renamed(model, (file) => {
    files.add(file)
    return file
  })
  return [...files]
}

/** Returns the model with other names of its weight files. */
export function renamed(model: Uint8Array, nameOf: (file: string) => string): Uint8Array {
  const parts = partsOf(model, "model", nameOf, 0)
  return parts === null ? model : concatenate(parts)
}

/** Returns a message with other names; null if none of its names changes. */
function partsOf(
  bytes: Uint8Array,
  kind: Kind,
  nameOf: (file: string) => string,
  depth: number,
): Uint8Array[] | null {
  if (depth > maxDepth) throw new RangeError(`more than ${maxDepth} messages in each other`)
  if (kind === "entry") return entryParts(bytes, nameOf)
  const parts: Uint8Array[] = []
  let from = 0
  for (const { number, at, start, end } of fieldsOf(bytes)) {
    const within = inner[kind][number]
    const changed = within && partsOf(bytes.subarray(start, end), within, nameOf, depth + 1)
    if (!changed) continue
    parts.push(bytes.subarray(from, at), message(number, changed))
    from = end
  }
  return from === 0 ? null : [...parts, bytes.subarray(from)]
}

/** Returns an entry, a key and its value, with another name if the key is `location`. */
function entryParts(bytes: Uint8Array, nameOf: (file: string) => string): Uint8Array[] | null {
  let key = ""
  let value = ""
  for (const { number, start, end } of fieldsOf(bytes)) {
    const text = textOf(bytes.subarray(start, end))
    if (number === 1) key = text
    else if (number === 2) value = text
  }
  if (key !== "location") return null
  const name = nameOf(value)
  return name === value ? null : [message(1, [encoder.encode(key)]), message(2, [encoder.encode(name)])]
}
