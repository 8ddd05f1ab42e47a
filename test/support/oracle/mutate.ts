/**
 * Mutations of an instance for differential tests: another value, name, order or number of members, or merely another
 * spelling of the same value. A small change keeps most of what makes an instance valid, so both verdicts occur.
 */
import { type JsonNode, readJson, toText } from "../../../grammar/json/read/reader.ts"

export type Mutation = "value" | "key" | "order" | "count" | "spelling"

type Random = () => number

const scalars = [
  ...[
    "null",
    "true",
    "false",
    "0",
    "1",
    "-1",
    "2",
    "1.0",
    "0.5",
    "1e2",
    "-0",
    "10",
    "1e-1",
    "100000000000000000001",
  ],
  ...['""', '"a"', '"ab"', '"0"', '"ä"', '"💩"', '"2024-02-29"', "[]", "{}", "[1]", '{"a":1}'],
]
const names = ["a", "b", "c", "id", "type", "name", "", "ä", "__proto__", "0", "x-y"]

/** A text near `instance`, and what was changed. `random` gives numbers in [0, 1). */
export function mutate(instance: JsonNode, random: Random): { text: string; mutation: Mutation } {
  const mutation = pick(random, ["value", "key", "order", "count", "spelling"] as const)
  if (mutation === "spelling") return { text: respell(instance, random), mutation }
  const places: JsonNode[] = []
  collect(instance, places)
  const suitable = places.filter((node) => fits(node, mutation))
  if (suitable.length === 0)
    return { text: replaceAt(instance, instance, pick(random, scalars)), mutation: "value" }
  const target = pick(random, suitable)
  return { text: replaceAt(instance, target, changed(target, mutation, random)), mutation }
}

function fits(node: JsonNode, mutation: Mutation): boolean {
  if (mutation === "value") return true
  if (mutation === "key") return node.kind === "object" && node.keys.length > 0
  if (mutation === "order") return sizeOf(node) > 1
  return node.kind === "object" || node.kind === "array"
}

const sizeOf = (node: JsonNode) =>
  node.kind === "object" ? node.keys.length : node.kind === "array" ? node.items.length : 0

function changed(node: JsonNode, mutation: Mutation, random: Random): string {
  const parts = partsOf(node)
  if (mutation === "value") return nearby(node, random)
  if (mutation === "order") shuffle(parts, random)
  if (mutation === "key") {
    const at = Math.floor(random() * parts.length)
    const used = node.kind === "object" ? node.keys : []
    const fresh = names.filter((name) => !used.includes(name))
    parts[at] = { name: fresh.length > 0 ? pick(random, fresh) : `${used[at]}_`, text: parts[at].text }
  }
  if (mutation === "count") {
    if (random() < 0.5 && parts.length > 0) parts.splice(Math.floor(random() * parts.length), 1)
    else if (node.kind === "array") {
      const text = parts.length > 0 && random() < 0.7 ? pick(random, parts).text : pick(random, scalars)
      parts.splice(Math.floor(random() * (parts.length + 1)), 0, { name: null, text })
    } else {
      const fresh = names.filter((name) => !parts.some((part) => part.name === name))
      if (fresh.length > 0) parts.push({ name: pick(random, fresh), text: pick(random, scalars) })
    }
  }
  return joined(node, parts)
}

interface Part {
  name: string | null
  text: string
}

function partsOf(node: JsonNode): Part[] {
  if (node.kind === "array") return node.items.map((item) => ({ name: null, text: toText(item) }))
  if (node.kind !== "object") return []
  return node.keys.map((name) => ({ name, text: toText(node.members.get(name) as JsonNode) }))
}

function joined(node: JsonNode, parts: readonly Part[]): string {
  const texts = parts
    .map(({ name, text }) => (name === null ? text : `${JSON.stringify(name)}:${text}`))
    .join()
  return node.kind === "array" ? `[${texts}]` : `{${texts}}`
}

/** Another value, often one at a bound of the old one. */
function nearby(node: JsonNode, random: Random): string {
  if (random() < 0.4) return pick(random, scalars)
  if (node.kind === "number") {
    const digit = `${Math.floor(random() * 10)}`
    const at = Math.floor(random() * (node.text.length + 1))
    const edited = node.text.slice(0, at) + digit + node.text.slice(at + (random() < 0.5 ? 1 : 0))
    return isJson(edited) ? edited : `${node.text}0`.replace(/^(-?)0+(?=\d)/, "$1")
  }
  if (node.kind === "string") {
    const points = [...node.value]
    const at = Math.floor(random() * (points.length + 1))
    const piece = pick(random, ["", "a", "0", "-", ".", " ", "Z", "é", "💩", "\n"])
    points.splice(at, random() < 0.5 ? 1 : 0, piece)
    return JSON.stringify(points.join(""))
  }
  return pick(random, scalars)
}

/** The same value, spelled otherwise: white space, escapes, number forms. */
export function respell(node: JsonNode, random: Random): string {
  const gap = () => (random() < 0.2 ? pick(random, [" ", "\n", "\t", "  "]) : "")
  const text = (value: string) =>
    `"${[...value].map((point) => (random() < 0.2 ? escaped(point) : JSON.stringify(point).slice(1, -1))).join("")}"`
  const write = (value: JsonNode): string => {
    switch (value.kind) {
      case "string":
        return text(value.value)
      case "number":
        return random() < 0.3 ? respellNumber(value.text, random) : value.text
      case "array":
        return `[${gap()}${value.items.map((item) => write(item) + gap()).join(`,${gap()}`)}]`
      case "object":
        return `{${gap()}${value.keys
          .map((key) => `${text(key)}${gap()}:${gap()}${write(value.members.get(key) as JsonNode)}${gap()}`)
          .join(`,${gap()}`)}}`
      default:
        return value.kind
    }
  }
  return gap() + write(node) + gap()
}

/** Every character of every string and name as \uXXXX. */
export function escapeAll(node: JsonNode): string {
  const text = (value: string) => `"${[...value].map(escaped).join("")}"`
  const write = (value: JsonNode): string => {
    if (value.kind === "string") return text(value.value)
    if (value.kind === "array") return `[${value.items.map(write).join()}]`
    if (value.kind !== "object") return toText(value)
    return `{${value.keys.map((key) => `${text(key)}:${write(value.members.get(key) as JsonNode)}`).join()}}`
  }
  return write(node)
}

function escaped(point: string): string {
  return Array.from(
    { length: point.length },
    (_, i) => `\\u${point.charCodeAt(i).toString(16).padStart(4, "0")}`,
  ).join("")
}

function respellNumber(text: string, random: Random): string {
  if (/[eE]/.test(text)) return text.toUpperCase()
  if (random() < 0.5) return `${text}e${pick(random, ["0", "+0", "-0", "00"])}`
  return text.includes(".") ? `${text}0` : `${text}.0`
}

function collect(node: JsonNode, into: JsonNode[]): void {
  into.push(node)
  if (node.kind === "array") for (const item of node.items) collect(item, into)
  if (node.kind === "object") for (const value of node.members.values()) collect(value, into)
}

function replaceAt(node: JsonNode, target: JsonNode, text: string): string {
  if (node === target) return text
  if (node.kind === "array") return `[${node.items.map((item) => replaceAt(item, target, text)).join()}]`
  if (node.kind !== "object") return toText(node)
  return `{${node.keys
    .map((key) => `${JSON.stringify(key)}:${replaceAt(node.members.get(key) as JsonNode, target, text)}`)
    .join()}}`
}

function shuffle<T>(list: T[], random: Random): void {
  for (let i = list.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    const kept = list[i]
    list[i] = list[j]
    list[j] = kept
  }
}

function pick<T>(random: Random, list: readonly T[]): T {
  return list[Math.floor(random() * list.length)]
}

function isJson(text: string): boolean {
  try {
    readJson(text)
    return true
  } catch {
    return false
  }
}
