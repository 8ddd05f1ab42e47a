/**
 * Reads and writes the few messages of an ONNX file that are needed here, field by field: the
 * positions of the nodes, inputs and outputs of its graph, and new ones. Weights are skipped.
 * (onnx.proto3; the numbers are its field numbers.)
 */

import { concatenate } from "../../../grammar/bytes.ts"

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

/** Returns the text of a field. */
export function textOf(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}

const viewOf = ({ buffer, byteOffset, length }: Uint8Array) => new DataView(buffer, byteOffset, length)

/**
 * A field of a message: its bytes are those from `start` to `end`, or its number is `value`; its
 * tag is at offset `at`.
 */
export interface Field {
  readonly number: number
  readonly at: number
  readonly start: number
  readonly end: number
  readonly value: number
}

/**
 * Returns the number that begins at `at`, and the offset of the next byte. Throws RangeError if the
 * number does not end before `end`.
 */
function varintAt(bytes: Uint8Array, at: number, end: number): [value: number, next: number] {
  let value = 0
  for (let scale = 1; ; scale *= 128) {
    const byte = at < end ? bytes[at++] : undefined
    if (byte === undefined || scale > 2 ** 63) throw new RangeError(`no protobuf message at byte ${at}`)
    value += (byte & 127) * scale
    if (byte < 128) return [value, at]
  }
}

/**
 * Yields the fields of the message from `start` to `end`. Throws RangeError if the bytes are not a
 * message.
 */
export function* fieldsOf(bytes: Uint8Array, start = 0, end = bytes.length): Generator<Field> {
  let at = start
  const varint = (): number => {
    const [value, next] = varintAt(bytes, at, end)
    at = next
    return value
  }
  while (at < end) {
    const tag = at
    const key = varint()
    const number = Math.floor(key / 8)
    const wire = key % 8
    const value = wire === 0 ? varint() : 0
    const length = wire === 0 ? 0 : wire === 1 ? 8 : wire === 2 ? varint() : wire === 5 ? 4 : Number.NaN
    if (!(at + length <= end)) throw new RangeError(`no protobuf message at byte ${at}`)
    yield { number, at: tag, start: at, end: at + length, value }
    at += length
  }
}

export interface OnnxNode {
  /** Offset of its field in the file. */
  readonly at: number
  readonly op: string
  readonly domain: string
  readonly inputs: readonly { readonly name: string; readonly start: number }[]
  readonly outputs: readonly string[]
  /** The bytes as they are in the file. */
  readonly attributes: readonly Uint8Array[]
}

/** An input or an output of the graph. */
export interface OnnxValue {
  readonly name: string
  /** Element type of its tensor; 0 if a graph inside another leaves it open. */
  readonly type: number
  /**
   * 0 for a size that the graph does not fix; undefined if even the number of dimensions is open.
   */
  readonly dims?: readonly number[]
}

export interface OnnxGraph {
  /** Version of the operators without a domain. */
  readonly opset: number
  readonly nodes: readonly OnnxNode[]
  readonly inputs: readonly OnnxValue[]
  readonly outputs: readonly OnnxValue[]
  /** The size of each tensor that the graph contains, by name. */
  readonly sizes: ReadonlyMap<string, readonly number[]>
}

/** Reads a graph. Throws RangeError if the bytes are not an ONNX model. */
export function readGraph(bytes: Uint8Array): OnnxGraph {
  const text = ({ start, end }: Field): string => textOf(bytes.subarray(start, end))
  const inside = ({ start, end }: Field): Field[] => [...fieldsOf(bytes, start, end)]
  const nodes: OnnxNode[] = []
  const inputs: OnnxValue[] = []
  const outputs: OnnxValue[] = []
  const sizes = new Map<string, readonly number[]>()
  let opset = 0
  const readNode = (field: Field): OnnxNode => {
    const fields = inside(field)
    const named = (number: number): Field[] => fields.filter((each) => each.number === number)
    return {
      at: field.at,
      op: named(4).map(text).join(""),
      domain: named(7).map(text).join(""),
      inputs: named(1).map((each) => ({ name: text(each), start: each.start })),
      outputs: named(2).map(text),
      attributes: named(5).map(({ start, end }) => bytes.subarray(start, end)),
    }
  }
  const readValue = (field: Field): OnnxValue => {
    let name = ""
    let type = 0
    const dims: number[] = []
    for (const each of inside(field)) {
      if (each.number === 1) name = text(each)
      if (each.number !== 2) continue
      for (const part of inside(each).flatMap((tensor) => (tensor.number === 1 ? inside(tensor) : []))) {
        if (part.number === 1) type = part.value
        if (part.number !== 2) continue
        for (const dim of inside(part)) dims.push(inside(dim).find(({ number }) => number === 1)?.value ?? 0)
      }
    }
    return { name, type, dims }
  }
  for (const field of fieldsOf(bytes)) {
    if (field.number === 8) {
      const [domain, version] = [1, 2].map((number) => inside(field).find((each) => each.number === number))
      if (version && (!domain || text(domain) === "")) opset = version.value
    }
    if (field.number !== 7) continue
    for (const part of fieldsOf(bytes, field.start, field.end)) {
      if (part.number === 1) nodes.push(readNode(part))
      else if (part.number === 5) {
        const fields = inside(part)
        const dims = fields.filter(({ number }) => number === 1).flatMap((each) => numbersOf(bytes, each))
        sizes.set(
          fields
            .filter(({ number }) => number === 8)
            .map(text)
            .join(""),
          dims,
        )
      } else if (part.number === 11) inputs.push(readValue(part))
      else if (part.number === 12) outputs.push(readValue(part))
    }
  }
  return { opset, nodes, inputs, outputs, sizes }
}

/** Returns the numbers of a field, which has one number or several packed ones. */
function numbersOf(bytes: Uint8Array, { start, end, value }: Field): number[] {
  if (start === end) return [value]
  const numbers: number[] = []
  for (let at = start; at < end; ) {
    const [number, next] = varintAt(bytes, at, end)
    numbers.push(number)
    at = next
  }
  return numbers
}

/**
 * Returns the value of an attribute that is a number; undefined for any other. Numbers of 64 bits
 * lose their sign.
 */
export function numberOf(attribute: Uint8Array): {
  readonly name: string
  readonly value: number | undefined
} {
  let name = ""
  let value: number | undefined
  for (const { number, start, end, value: int } of fieldsOf(attribute)) {
    if (number === 1) name = textOf(attribute.subarray(start, end))
    if (number === 2) value = viewOf(attribute.subarray(start, end)).getFloat32(0, true)
    if (number === 3) value = int
  }
  return { name, value }
}

/** Returns the model without some of its nodes, in parts. */
export function withoutNodes(bytes: Uint8Array, nodes: readonly OnnxNode[]): Uint8Array[] {
  if (nodes.length === 0) return [bytes]
  const dropped = new Set(nodes.map(({ at }) => at))
  const parts: Uint8Array[] = []
  for (const field of fieldsOf(bytes)) {
    if (field.number !== 7) {
      parts.push(bytes.subarray(field.at, field.end))
      continue
    }
    const kept: Uint8Array[] = []
    let from = field.start
    for (const part of fieldsOf(bytes, field.start, field.end)) {
      if (part.number !== 1 || !dropped.has(part.at)) continue
      kept.push(bytes.subarray(from, part.at))
      from = part.end
    }
    kept.push(bytes.subarray(from, field.end))
    parts.push(varint(8 * 7 + 2), varint(kept.reduce((sum, { length }) => sum + length, 0)), ...kept)
  }
  return parts
}

/** An attribute of a node; bytes are copied from another node. */
export type OnnxAttribute =
  | { readonly name: string; readonly int: number }
  | { readonly name: string; readonly ints: readonly number[] }
  | { readonly name: string; readonly float: number }
  | { readonly name: string; readonly text: string }
  | { readonly name: string; readonly graph: OnnxAddition }
  | Uint8Array

export interface OnnxNewNode {
  readonly op: string
  /** If undefined, the domain of the standard. */
  readonly domain?: string
  readonly inputs: readonly string[]
  readonly outputs: readonly string[]
  readonly attributes?: readonly OnnxAttribute[]
}

/** Numbers that a graph contains: of type int64, int32, bool or float. */
interface OnnxConstant {
  readonly name: string
  readonly type: number
  readonly dims: readonly number[]
  readonly values: readonly number[]
}

/** A tensor with its bytes in another file. The path of that file starts at the model's folder. */
export interface OnnxExternal {
  readonly name: string
  readonly type: number
  readonly dims: readonly number[]
  readonly location: string
  readonly offset: number
  /** Number of bytes. */
  readonly length: number
}

export interface OnnxAddition {
  readonly nodes: readonly OnnxNewNode[]
  readonly constants?: readonly OnnxConstant[]
  readonly externals?: readonly OnnxExternal[]
  readonly inputs: readonly OnnxValue[]
  readonly outputs: readonly OnnxValue[]
}

/** Returns a whole model. `opsets` has the version of each domain; "" is the standard's own. */
export function writeModel(
  graph: OnnxAddition & { readonly name: string },
  opsets: Readonly<Record<string, number>>,
  producer: string,
): Uint8Array {
  return concatenate([
    number(1, 10), // version of the file format; it came with opset 21
    text(2, producer),
    message(7, [...graphParts(graph), text(2, graph.name)]),
    ...Object.entries(opsets).map(([domain, version]) => message(8, [text(1, domain), number(2, version)])),
  ])
}

/** Returns a graph to be appended to the bytes of a model: parsers then merge the two. */
export function writeGraph(added: OnnxAddition): Uint8Array {
  return message(7, graphParts(added))
}

function graphParts({ nodes, constants = [], externals = [], inputs, outputs }: OnnxAddition): Uint8Array[] {
  return [
    ...nodes.map(({ op, domain, inputs, outputs, attributes = [] }) =>
      message(1, [
        ...inputs.map((input) => text(1, input)),
        ...outputs.map((output) => text(2, output)),
        text(3, outputs[0]),
        text(4, op),
        ...(domain ? [text(7, domain)] : []),
        ...attributes.map((each) => message(5, each instanceof Uint8Array ? [each] : attributeParts(each))),
      ]),
    ),
    ...constants.map(({ name, type, dims, values }) =>
      message(5, [
        ...dims.map((size) => number(1, size)),
        number(2, type),
        ...(type === 1
          ? [message(9, [new Uint8Array(Float32Array.from(values).buffer)])]
          : values.map((value) => number(type === 7 ? 7 : 5, value))),
        text(8, name),
      ]),
    ),
    ...externals.map(({ name, type, dims, ...place }) =>
      message(5, [
        ...dims.map((size) => number(1, size)),
        number(2, type),
        text(8, name),
        ...Object.entries(place).map(([key, value]) => message(13, [text(1, key), text(2, String(value))])),
        number(14, 1),
      ]),
    ),
    ...inputs.map((value) => message(11, valueInfo(value))),
    ...outputs.map((value) => message(12, valueInfo(value))),
  ]
}

function attributeParts(attribute: Exclude<OnnxAttribute, Uint8Array>): Uint8Array[] {
  const name = text(1, attribute.name)
  if ("int" in attribute) return [name, number(3, attribute.int), number(20, 2)]
  if ("float" in attribute) {
    const bytes = new Uint8Array(4)
    viewOf(bytes).setFloat32(0, attribute.float, true)
    return [name, concatenate([varint(8 * 2 + 5), bytes]), number(20, 1)]
  }
  if ("text" in attribute) return [name, text(4, attribute.text), number(20, 3)]
  if ("ints" in attribute) return [name, ...attribute.ints.map((each) => number(8, each)), number(20, 7)]
  return [name, message(6, [text(2, attribute.name), ...graphParts(attribute.graph)]), number(20, 5)]
}

function valueInfo({ name, type, dims }: OnnxValue): Uint8Array[] {
  if (type === 0) return [text(1, name)]
  const shape = dims?.map((size, at) => message(1, [size > 0 ? number(1, size) : text(2, `${name}.${at}`)]))
  return [text(1, name), message(2, [message(1, [number(1, type), ...(shape ? [message(2, shape)] : [])])])]
}

function number(field: number, value: number): Uint8Array {
  return concatenate([varint(8 * field), varint(value)])
}

function text(field: number, value: string): Uint8Array {
  return message(field, [encoder.encode(value)])
}

/** Returns the field `number`, a message of these parts. */
export function message(field: number, parts: readonly Uint8Array[]): Uint8Array {
  const inside = concatenate(parts)
  return concatenate([varint(8 * field + 2), varint(inside.length), inside])
}

/** A negative number takes ten bytes: its two's complement in 64 bits. */
function varint(value: number): Uint8Array {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, BigInt(value))
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128)
  return Uint8Array.of(...bytes, Number(rest))
}
