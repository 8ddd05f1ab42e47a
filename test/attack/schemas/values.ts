/**
 * Nasty schemas of one kind of value: objects, arrays, numbers and strings.
 */
import { among, type Generators, letter, repeat, whole } from "./generator.ts"

const formats = [
  ...["date", "time", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "uri", "uuid"],
  ...["json-pointer", "uri-template", "idn-email", "iri", "regex"],
]
const scripts = ["Han", "Latin", "Greek", "Cyrillic", "Arabic", "Thai", "Hangul", "Hebrew"]
const primes = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43]
const digits = (count: number, digit: string) => digit.repeat(count)

export const valueSchemas: Generators = {
  wide: (random, size) => ({
    type: "object",
    properties: Object.fromEntries(
      repeat(1_000 * (size + 1), (i) => [
        `${letter(random)}${i}`,
        { type: among(random, ["integer", "string"]) },
      ]),
    ),
    additionalProperties: random() < 0.5,
  }),
  "required sets": (random, size) => ({
    type: "object",
    required: repeat(500 * (size + 1), (i) => `${letter(random)}_${i}`),
    additionalProperties: { type: "string", pattern: "^[a-z]+$", maxLength: 5 + size },
  }),
  propertyNames: (random, size) => ({
    type: "object",
    propertyNames: {
      allOf: repeat(1 + size, (i) => ({
        pattern: `^[a-${"hijklmnop"[i]}]{${1 + i},${12 + whole(random, 9)}}$`,
      })),
    },
    ...{ minProperties: 3 + 40 * size, additionalProperties: { type: "null" } },
  }),
  patternProperties: (random, size) => ({
    type: "object",
    patternProperties: Object.fromEntries(
      repeat(3 + 2 * size, (i) => [
        `[${letter(random)}-p]{${i}}${"abcdefghijklmnopqrstuvwxyz"[i]}`,
        { multipleOf: i + 1 },
      ]),
    ),
    additionalProperties: random() < 0.5,
  }),
  unevaluatedProperties: (random, size) => ({
    type: "object",
    anyOf: repeat(3 + 2 * size, (i) => ({
      properties: { [`${letter(random)}${i}`]: { type: "integer" } },
      patternProperties: { [`^x${i}`]: { type: "string" } },
    })),
    unevaluatedProperties: random() < 0.5 ? false : { type: "null" },
  }),
  "property counts": (random, size) => ({
    type: "object",
    allOf: repeat(1 + size, (i) => ({
      oneOf: [{ minProperties: 3 + i, maxProperties: 9 + 30 * i }, { required: [letter(random)] }],
    })),
    ...{ minProperties: 100 * size, maxProperties: 100_000 },
  }),
  "long names": (_, size) => ({
    type: "object",
    properties: Object.fromEntries(
      repeat(2 * (size + 1), (i) => [`${"n".repeat(100_000)}${i}`, { type: "integer" }]),
    ),
    required: [`${"n".repeat(100_000)}0`],
  }),
  contains: (random, size) => ({
    type: "array",
    allOf: repeat(2 + size, (i) => ({
      contains: { multipleOf: primes[i] },
      ...{ minContains: 1 + whole(random, 3), maxContains: 4 + whole(random, 5) },
    })),
    items: { type: "integer" },
    maxItems: 60,
  }),
  "unevaluated items": (random, size) => ({
    type: "array",
    anyOf: repeat(2 + size, (i) => ({
      prefixItems: repeat(i + 1, () => ({ type: among(random, ["integer", "string", "null"]) })),
      contains: { type: "string", minLength: i },
    })),
    unevaluatedItems: { type: "boolean" },
  }),
  "unique values": (random, size) => ({
    ...{ type: "array", uniqueItems: true, minItems: 5 + 10 * size },
    items: among<unknown>(random, [
      { enum: repeat(200, (i) => `v${i}`) },
      { const: { a: [1, { b: 2 }] } },
      {
        type: "object",
        properties: { a: { type: "boolean" }, b: { enum: [1, 2, 3] } },
        additionalProperties: false,
      },
      { type: "integer", multipleOf: "RAW123456789.987654321" },
      { type: "array", items: { type: "boolean" }, maxItems: 6 },
      { type: "object", required: ["a", "b"] },
    ]),
  }),
  "no unique values": (random, size) => ({
    ...{ type: "array", not: { uniqueItems: true }, minItems: 1 + size },
    items: among<unknown>(random, [{ type: "integer" }, { type: "object" }, { enum: [1, 2, 3, "x"] }, {}]),
  }),
  "long tuples": (random, size) => ({
    type: "array",
    prefixItems: repeat(500 * (size + 1), (i) =>
      random() < 0.5 ? { const: i } : { type: "string", maxLength: whole(random, 20) },
    ),
    ...{ items: false, minItems: 200 * size },
  }),
  "many items": (random, size) => ({
    ...{ type: "array", minItems: 10 ** (2 + (size % 5)) },
    items: among<unknown>(random, [
      { type: "integer" },
      { type: "string", minLength: 30 },
      { items: { type: "null" } },
    ]),
  }),
  multipleOf: (random, size) => ({
    type: "integer",
    allOf: repeat(3 + size, (i) => ({ multipleOf: primes[i] ** (1 + whole(random, 3)) })),
    not: { multipleOf: primes[4 + size] * 1_009 },
    minimum: 10 ** size,
  }),
  "number bounds": (random, size) => ({
    type: "number",
    ...{
      minimum: `RAW-1.${digits(30 * size, "3")}1e${whole(random, 300)}`,
      maximum: `RAW1e${10 ** (size % 7)}`,
    },
    ...{ exclusiveMinimum: "RAW1e-400", multipleOf: `RAW${digits(1 + 3 * size, "7")}e-${whole(random, 40)}` },
  }),
  enum: (random, size) => ({
    enum: repeat(5_000 * (size + 1), (i) =>
      random() < 0.9 ? `value ${whole(random, 1e9)} ${i}` : { a: [i, { b: random() < 0.5 }] },
    ),
  }),
  "deep const": (_, size) => ({
    const: repeat(40 * (size + 1), (i) => i).reduce<unknown>(
      (inner, i) => (i % 2 ? [inner, i] : { k: inner, i }),
      "x",
    ),
  }),
  "exponential patterns": (random, size) => ({
    type: "string",
    pattern: `^(${among(random, ["(a|aa)+", "(a|b)*a(a|b)", "((a*)*b)*", "(x+x+)+y", "(.*[ab].*){3}"])}.{${9 + 12 * size}})+$`,
  }),
  "counted patterns": (random, size) => ({
    type: "string",
    pattern: `^(([a-z]{${1 + whole(random, 5)},${40 + 200 * size}}[0-9]){1,${30 * (size + 1)}}-){2,${99 * (size + 1)}}$`,
  }),
  "patterns with lookarounds": (random, size) => ({
    type: "string",
    pattern: `^${repeat(2 + 2 * size, (i) => `(?${among(random, ["=", "!"])}.*${letter(random)}.{${i}}[${letter(random)}x])`).join("")}(.(?<=[^y]))*$`,
  }),
  "patterns with lengths": (random, size) => ({
    ...{ type: "string", minLength: 40 * size, maxLength: 50 + 900 * size },
    allOf: repeat(1 + (size >> 1), () => ({
      pattern: `(${letter(random)}.{${whole(random, 20)}}[${letter(random)}z]|${letter(random)}+$)`,
    })),
  }),
  "formats with patterns": (random, size) => ({
    ...{ type: "string", format: among(random, formats), maxLength: 20 + 20 * size },
    ...{
      pattern: among(random, ["[05]", "^.{3}", "a|b|1", "(.).*\\d", "[^a]$"]),
      not: { pattern: "9{2}|zz" },
    },
  }),
  "Unicode classes": (random, size) => ({
    type: "string",
    pattern: `^${repeat(2 + 3 * size, () => `[\\p{Script=${among(random, scripts)}}\\p{Lu}]{0,${1 + whole(random, 9)}}\\P{L}?`).join("")}$`,
    not: { pattern: `\\p{Script=${among(random, scripts)}}{2}` },
  }),
}
