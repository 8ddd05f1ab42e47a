/**
 * Values of GGUF metadata by key, each of the expected type. All functions throw ModelError naming
 * the key; the caller names the file.
 */

import { ModelError } from "../../errors.ts"
import type { Metadata, MetadataValue } from "../weights/gguf.ts"

interface ScalarTypes {
  number: number
  string: string
}

/** The advice for a value that no converter writes. */
export const damaged = "The file is damaged: download it again"
/**
 * Maximum characters of all strings of a list together: several times the size of known
 * vocabularies.
 */
const maxCharacters = 2 ** 25

export function fail(key: string, problem: string): never {
  throw new ModelError(`metadata "${key}" ${problem}`)
}

/** Formats a value for a message of one line. */
export function shown(value: MetadataValue): string {
  if (isList(value)) return "a list"
  const text = typeof value === "string" ? JSON.stringify(value) : String(value)
  return text.length > 80 ? `${text.slice(0, 77)}…` : text
}

export function textOf(metadata: Metadata, key: string): string {
  const value = metadata.get(key)
  if (typeof value === "string") return value
  return fail(
    key,
    value === undefined ? `is missing. ${damaged}` : `is ${kindOf(value)}, not a string. ${damaged}`,
  )
}

export function flag(metadata: Metadata, key: string, absent: boolean): boolean {
  const value = metadata.get(key) ?? absent
  return typeof value === "boolean" ? value : fail(key, `is ${shown(value)}, not true or false. ${damaged}`)
}

/** Returns the id of one of `count` tokens; undefined if the key is missing. */
export function idOf(metadata: Metadata, key: string, count: number): number | undefined {
  const value = metadata.get(key)
  if (value === undefined) return undefined
  if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value < count) return value
  return fail(key, `is ${shown(value)}, and ids of tokens are 0 to ${count - 1}. ${damaged}`)
}

/** Returns a list of 1 to `most` values of a type. */
export function listOf<Type extends keyof ScalarTypes>(
  metadata: Metadata,
  key: string,
  type: Type,
  most: number,
): readonly ScalarTypes[Type][] {
  const value = metadata.get(key)
  if (value === undefined) fail(key, `is missing. Convert the model again, or take another file of it`)
  if (!isList(value)) return fail(key, `is ${kindOf(value)}, not a list. ${damaged}`)
  if (value.length < 1 || value.length > most) {
    fail(key, `has ${value.length} values, and 1 to ${most} are read. ${damaged}`)
  }
  const at = value.findIndex((each) => typeof each !== type)
  if (at >= 0) fail(`${key}[${at}]`, `is ${kindOf(value[at])}, not a ${type}. ${damaged}`)
  const characters = type === "string" ? (value as string[]).reduce((sum, { length }) => sum + length, 0) : 0
  if (characters > maxCharacters) {
    fail(key, `has strings of ${characters} characters, and ${maxCharacters} are read. ${damaged}`)
  }
  return value as unknown as readonly ScalarTypes[Type][]
}

function isList(value: unknown): value is readonly (number | bigint | string | boolean)[] {
  return Array.isArray(value)
}

function kindOf(value: MetadataValue): string {
  return isList(value) ? "a list" : `a ${typeof value}`
}
