/**
 * When worlds begin, and what their tables take (`tables.ts`).
 *
 * In a new world the tables hold what they held at the first compilation, when all modules had been
 * loaded. So the ids of module constants, like that of the empty lexeme, are equal in all worlds.
 */
import { enter, type Owner, owners, World } from "./tables.ts"

/** Bytes of tables above which the next compilation begins a new world. */
const DefaultMaxBytes = 12 << 20
/**
 * Few compilations add more bytes than this. Counting the bytes takes some 15 µs, so it is done
 * once for as many compilations as would reach the bound.
 */
const UsualBytes = 1 << 20

/** Contents at the first compilation, or at the first one after the table was registered. */
const base: (readonly unknown[])[] = []
let maxBytes = DefaultMaxBytes
/** Count of the compilations since the tables were last counted. */
let uncheckedCount = 0
/** Count of the compilations that are running, each inside the one before it. */
let depth = 0

/**
 * Runs a compilation. If it is not part of another one, and the tables of this world take more than
 * their bound, it begins a new world. Nothing is walked then, since everything is synchronous.
 */
export function compilation<T>(run: () => T): T {
  if (depth === 0) makeRoom()
  depth++
  try {
    return run()
  } finally {
    depth--
  }
}

/** Returns whether a compilation has begun in this process. */
export function hasCompiled(): boolean {
  return base.length > 0
}

function makeRoom(): void {
  if (base.length < owners.length) keepBase()
  if (++uncheckedCount < maxBytes / UsualBytes) return
  uncheckedCount = 0
  if (tableBytes() > maxBytes) beginWorld()
}

function keepBase(): void {
  for (const { table, fields, forget } of owners.slice(base.length)) {
    forget?.()
    base.push(fields.map((field) => copied(table[field])))
  }
}

/** Begins a new world, after the first compilation. Grammars of earlier ones stay as they are. */
export function beginWorld(): void {
  keepBase()
  for (const { forget } of owners) forget?.()
  const world = new World()
  world.contents = base.map((contents) => contents.map(copied))
  enter(world)
}

/** Sets the bytes above which a new world begins. The next compilation counts them. */
export function setTableBytes(bytes: number = DefaultMaxBytes): void {
  maxBytes = bytes
  uncheckedCount = Number.POSITIVE_INFINITY
}

/** Returns a copy of one field. The entries of arrays and maps are shared. */
function copied(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value
  if (ArrayBuffer.isView(value)) return (value as Int32Array).slice()
  if (Array.isArray(value)) return value.slice()
  if (value instanceof Map) return new Map(value)
  if (value instanceof Set) return new Set(value)
  const copy = new (value.constructor as new () => Record<string, unknown>)()
  for (const [field, content] of Object.entries(value)) copy[field] = copied(content)
  return copy
}

/** Returns the bytes of all tables of the current world. */
export function tableBytes(): number {
  return owners.reduce((sum, owner) => sum + ownerBytes(owner), 0)
}

/** Returns the bytes by owner. */
export function bytesByOwner(): Record<string, number> {
  const bytes: Record<string, number> = {}
  for (const owner of owners) bytes[owner.name] = (bytes[owner.name] ?? 0) + ownerBytes(owner)
  return bytes
}

function ownerBytes({ table, fields, entryBytes = 0, bytes }: Owner): number {
  return fields.reduce((sum, field) => sum + sizeOf(table[field], entryBytes), bytes?.() ?? 0)
}

/** Bytes of an entry of a Map or a Set: key, value, link, and its part of the buckets. */
const MapEntryBytes = 40

function sizeOf(value: unknown, entryBytes: number): number {
  if (typeof value !== "object" || value === null) return 8
  if (ArrayBuffer.isView(value)) return value.byteLength
  if (Array.isArray(value)) return value.length * (8 + entryBytes)
  if (value instanceof Map || value instanceof Set) return value.size * (MapEntryBytes + entryBytes)
  let bytes = 0
  for (const field in value) bytes += sizeOf((value as Record<string, unknown>)[field], entryBytes)
  return bytes
}
