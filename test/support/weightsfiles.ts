/** Writes small GGUF and safetensors files for tests, right ones and wrong ones. */

/** Numbers of types of metadata. */
const types = {
  u8: 0,
  i8: 1,
  u16: 2,
  i16: 3,
  u32: 4,
  i32: 5,
  f32: 6,
  bool: 7,
  string: 8,
  array: 9,
  u64: 10,
  i64: 11,
  f64: 12,
}
type TypeName = keyof typeof types

export interface GgufParts {
  /** Default: 3. */
  readonly version?: number
  /** [key, type, value]; arrays as [key, "array", [type of elements, values]]. */
  readonly metadata?: readonly (readonly [string, TypeName, unknown])[]
  /**
   * `shape` outermost first, `type` by its number; `offset` in the data, default: behind the tensor before
   * it.
   */
  readonly tensors?: readonly {
    readonly name: string
    readonly shape: readonly number[]
    readonly type: number
    readonly bytes: Uint8Array
    readonly offset?: number
  }[]
  /** Default: 32. Not written into the metadata. */
  readonly alignment?: number
}

/** The bytes of a file. */
export function ggufFile({
  version = 3,
  metadata = [],
  tensors = [],
  alignment = 32,
}: GgufParts): Uint8Array {
  const pieces: Uint8Array[] = []
  const put = (type: TypeName, value: unknown): void => {
    pieces.push(encoded(type, value))
  }
  pieces.push(Buffer.from("GGUF"))
  put("u32", version)
  put("u64", tensors.length)
  put("u64", metadata.length)
  for (const [key, type, value] of metadata) {
    put("string", key)
    put("u32", types[type])
    put(type, value)
  }
  const data: Uint8Array[] = []
  let end = 0
  for (const { name, shape, type, bytes, offset = end } of tensors) {
    put("string", name)
    put("u32", shape.length)
    for (const length of [...shape].reverse()) put("u64", length)
    put("u32", type)
    put("u64", offset)
    const padding = new Uint8Array(-bytes.length & (alignment - 1))
    data.push(bytes, padding)
    end += bytes.length + padding.length
  }
  const header = Buffer.concat(pieces)
  return Buffer.concat([header, new Uint8Array(-header.length & (alignment - 1)), ...data])
}

function encoded(type: TypeName, value: unknown): Uint8Array {
  if (type === "string") {
    const text = Buffer.from(value as string)
    return Buffer.concat([encoded("u64", text.length), text])
  }
  if (type === "array") {
    const [elementType, values] = value as [TypeName, unknown[]]
    const head = [encoded("u32", types[elementType]), encoded("u64", values.length)]
    return Buffer.concat([...head, ...values.map((element) => encoded(elementType, element))])
  }
  const view = new DataView(new ArrayBuffer(8))
  const number = Number(value)
  const sizes: Partial<Record<TypeName, number>> = {
    u8: 1,
    i8: 1,
    bool: 1,
    u16: 2,
    i16: 2,
    u32: 4,
    i32: 4,
    f32: 4,
  }
  const size = sizes[type] ?? 8
  if (type === "f32") view.setFloat32(0, number, true)
  else if (type === "f64") view.setFloat64(0, number, true)
  else view.setBigInt64(0, BigInt(value as number | bigint | boolean), true)
  return new Uint8Array(view.buffer, 0, size)
}

/** A safetensors file with this header. */
export function safetensorsFile(header: object, data: Uint8Array): Uint8Array {
  const text = Buffer.from(JSON.stringify(header))
  return Buffer.concat([encoded("u64", text.length), text, data])
}
