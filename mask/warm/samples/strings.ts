/** Strings: lengths, formats, patterns, enumerations. */
import type { Dice } from "./dice.ts"
import { fixed, type Shape } from "./shape.ts"

/** A string of any kind. */
export function anyString(dice: Dice): Shape {
  const roll = dice.below(100)
  if (roll < 40) return freeText(dice)
  if (roll < 60) return formatted(dice)
  if (roll < 80) return patterned(dice)
  return enumerated(dice, dice.pick([2, 3, 4, 5, 8, 12, 20]))
}

/** Text without a form, of any length or within bounds. */
export function freeText(dice: Dice): Shape {
  const type = "string"
  switch (dice.below(8)) {
    case 0: {
      const most = dice.pick([20, 32, 50, 64, 80, 100, 128, 255, 256, 500, 1000, 2000, 4096]) + dice.below(4)
      return { schema: { type, maxLength: most }, value: () => dice.sentence().slice(0, most - 4) }
    }
    case 1: {
      const least = dice.from(1, 6)
      return { schema: { type, minLength: least }, value: () => `${dice.sentence()} ${dice.noun()}` }
    }
    case 2: {
      const least = dice.from(1, 3)
      const most = dice.from(12, 90)
      return {
        schema: { minLength: least, type, maxLength: most },
        value: () => dice.words(4).slice(0, most - 1),
      }
    }
    case 3:
      return { schema: { type: ["string", "null"] }, value: () => (dice.is(30) ? null : dice.sentence()) }
    default:
      return { schema: { type }, value: () => dice.sentence() }
  }
}

const pad = (value: number, digits = 2) => String(value).padStart(digits, "0")
const date = (dice: Dice) => `${dice.from(1970, 2030)}-${pad(dice.from(1, 12))}-${pad(dice.from(1, 28))}`
const clock = (dice: Dice) =>
  `${pad(dice.from(0, 23))}:${pad(dice.from(0, 59))}:${pad(dice.from(0, 59))}${dice.is(40) ? `.${pad(dice.below(1000), 3)}` : ""}${dice.pick(["Z", "+02:00", "-05:30", "Z"])}`
const host = (dice: Dice) =>
  `${dice.pick(["www", "api", "cdn", dice.noun()])}.${dice.noun()}-${dice.noun()}.${dice.pick(["com", "org", "io", "co.uk", "example"])}`
const address = (dice: Dice) => [1, 2, 3, 4].map(() => dice.from(0, 255)).join(".")
const path = (dice: Dice) => `/${dice.noun()}/${dice.from(1, 999)}/${dice.noun()}.html`
const hex = (dice: Dice, digits: number) =>
  Array.from({ length: digits }, () => dice.below(16).toString(16)).join("")

/** A text of each format but `idn-hostname`, `idn-email` and `regex`: rare, and each has tables that take a while. */
const formats: Readonly<Record<string, (dice: Dice) => string>> = {
  date,
  "date-time": (dice) => `${date(dice)}T${clock(dice)}`,
  time: clock,
  duration: (dice) => dice.pick([`P${dice.from(1, 30)}D`, `PT${dice.from(1, 90)}M30S`, "P1Y2M", "P2W"]),
  email: (dice) => `${dice.noun()}.${dice.noun()}${dice.from(1, 99)}@${host(dice)}`,
  hostname: host,
  ipv4: address,
  ipv6: (dice) =>
    dice.pick([
      `2001:db8::${hex(dice, 4)}`,
      "::1",
      `fe80::${hex(dice, 3)}:${hex(dice, 4)}`,
      "::ffff:10.0.0.1",
    ]),
  uri: (dice) => `https://${host(dice)}${path(dice)}?q=${dice.noun()}&n=${dice.below(50)}#${dice.noun()}`,
  "uri-reference": (dice) => dice.pick([path(dice), `../${dice.noun()}`, `#${dice.noun()}`]),
  iri: (dice) => `https://${host(dice)}/größe/${dice.noun()}`,
  "iri-reference": (dice) => `/straße/${dice.noun()}`,
  "uri-template": (dice) => `https://${host(dice)}/{${dice.noun()}}/{?${dice.noun()},page}`,
  "json-pointer": (dice) => `/${dice.noun()}/0/${dice.noun()}~1x`,
  "relative-json-pointer": (dice) => `${dice.below(3)}/${dice.noun()}`,
  uuid: (dice) => `${hex(dice, 8)}-${hex(dice, 4)}-4${hex(dice, 3)}-a${hex(dice, 3)}-${hex(dice, 12)}`,
}
export const usualFormats: readonly string[] =
  "date date-time email uri uuid date-time uri hostname ipv4 ipv6 time uri-reference".split(" ")

/** A format, now and then within lengths too. */
export function formatted(dice: Dice, format?: string): Shape {
  const name = format ?? dice.pick(usualFormats)
  const bounds = dice.is(15) ? { minLength: dice.from(1, 3), maxLength: dice.from(150, 300) } : {}
  return { schema: { type: "string", format: name, ...bounds }, value: () => formats[name](dice) }
}

export const formatNames: readonly string[] = Object.keys(formats)

/** Formats that no draft knows: annotations. */
export function unknownFormat(dice: Dice): Shape {
  const format = dice.pick(["password", "binary", "byte", "color", "phone", "markdown"])
  return { schema: { type: "string", format }, value: () => dice.words(2) }
}

type PatternRow = (dice: Dice, n: number) => readonly [pattern: string, ...texts: string[]]

const digits = (dice: Dice, count: number) => Array.from({ length: count }, () => dice.below(10)).join("")

/** Patterns as people write them; `n` varies their bounds. */
const patterns: readonly PatternRow[] = [
  (dice) => ["^[\\w\\-\\_\\ ]+$", `${dice.noun()}-${dice.noun()}_1`],
  (dice) => ["^\\@[a-z\\-]+\\/[^\\:]+$", `@${dice.noun()}/${dice.noun()}`],
  (dice, n) => [`^{[a-z]{1,${20 + n}}}$`, `{${dice.noun()}}`],
  (dice) => ["^(?!(?:tmp|old)?-)(?:[a-z]+(?:-(?=[a-z]))?)+$", `${dice.noun()}-${dice.noun()}`],
  (dice, n) => [`^[A-Z]{2}[0-9]{4,${5 + n}}$`, `AB${digits(dice, 4)}`, `QX${digits(dice, 5)}`],
  (dice, n) => [`^[a-z][a-z0-9-]{0,${30 + n}}$`, `${dice.noun()}-${dice.noun()}`, dice.noun()],
  (dice, n) => [`^[a-z0-9]+(?:-[a-z0-9]+){0,${5 + n}}$`, `${dice.noun()}-${dice.from(1, 99)}`],
  (dice) => ["^#(?:[0-9a-fA-F]{3}){1,2}$", `#${hex(dice, 6)}`, "#0aF"],
  (dice, n) => [`^0x[0-9a-f]{${6 + n},64}$`, `0x${hex(dice, 40)}`],
  (dice, n) => [`^[0-9a-f]{${20 + n}}$`, hex(dice, 20 + n)],
  (dice) => [
    "^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(-[0-9A-Za-z.-]+)?$",
    `${dice.below(9)}.1.0-beta.2`,
  ],
  (dice) => ["^v?\\d+(\\.\\d+)*", `v${dice.from(1, 20)}.${dice.below(30)}`, "3 and more"],
  (dice) => ["^\\d{5}(-\\d{4})?$", digits(dice, 5), `${digits(dice, 5)}-${digits(dice, 4)}`],
  (dice, n) => [`^\\+?[0-9 ()-]{7,${16 + n}}$`, `+44 20 ${digits(dice, 4)} 12`, `(030) ${digits(dice, 6)}`],
  (dice) => ["^([01]\\d|2[0-3]):[0-5]\\d$", `1${dice.below(10)}:3${dice.below(10)}`, "23:59"],
  (dice) => ["^(19|20)\\d\\d-(0[1-9]|1[0-2])$", `20${digits(dice, 2)}-07`],
  (dice) => [`^(red|green|blue|${dice.noun()})(-(light|dark))?$`, "red", "blue-dark"],
  (dice) => {
    const noun = dice.noun()
    return [`^(?:${noun}|${dice.noun()}s?)\\.[a-z]+$`, `${noun}.${dice.noun()}`]
  },
  (dice) => {
    const noun = dice.noun()
    return [`${noun}|${dice.noun()}`, noun, `${dice.words(2)} ${noun}s`]
  },
  (dice) => ["\\.(png|jpe?g|gif|svg)$", `${dice.noun()}.png`, `/img/${dice.noun()}.jpeg`],
  (dice) => ["^https?://", `https://${host(dice)}/`, `http://${host(dice)}`],
  (dice) => ["^(https?|wss?)://[^\\s/$.?#]+\\.[^\\s]*$", `https://${host(dice)}${path(dice)}`],
  (dice) => ["^[^\\s@]+@[^\\s@]+\\.[^\\s@]+$", `${dice.noun()}@${host(dice)}`],
  (dice) => ["^[^/]+/[^/]+$", `${dice.noun()}/${dice.noun()}`],
  (dice) => ["^(/[^/\\s]+)+/?$", path(dice), `/${dice.noun()}/`],
  (dice) => ["^\\S+$", dice.noun(), `${dice.noun()}_1`],
  (dice) => ["\\S", dice.sentence()],
  (dice, n) => [`^.{1,${40 + n}}$`, dice.words(4).slice(0, 40)],
  (dice, n) => [`^[\\w .,'-]{2,${40 + n}}$`, dice.words(3).slice(0, 38)],
  (dice) => ["^[^\\r\\n\\t]*$", dice.words(5)],
  (dice) => ["^\\s*\\S[\\s\\S]*$", dice.sentence()],
  (dice, n) => [`^(\\S+\\s+){0,${20 + n}}\\S+$`, dice.words(9)],
  (_dice) => ["^[A-Z][a-z]+( [A-Z][a-z]+)*$", "Grand Hotel", "Nile"],
  (_dice) => ["^\\p{Lu}\\p{L}*$", "Ägypten", "Nile", "Łódź"],
  (dice) => ["^[\\p{L}\\p{N} ]+$", `${dice.words(2)} 42`, "東京 1"],
  (_dice) => ["^[一-龥]{1,9}$", "价格", "中文"],
  (dice, n) => [`^(?!-)[a-z0-9-]{1,${30 + n}}$`, `${dice.noun()}-1`],
  (dice, n) => [`^(?=.*[0-9])(?=.*[a-z]).{8,${30 + n}}$`, `${dice.noun()}${digits(dice, 6)}zz`],
  (dice) => ["^(?!.*\\.\\.)[a-z./]+$", `./${dice.noun()}/${dice.noun()}.txt`],
  (dice) => [`^(?!${dice.noun()}x$).+`, dice.words(2)],
  (_dice) => ["^[a-z]+(?<!ing)$", "river", "slow"],
  (dice) => ["\\bcat\\b", `the cat ${dice.words(2)}`, "cat"],
  (dice) => ["^\\$\\{[A-Z_]+\\}$|^[a-z]*$", `\${${dice.noun().toUpperCase()}}`, dice.noun()],
  (dice, n) => [`^$|^[A-Z0-9]{3,${9 + n}}$`, "", `AB${digits(dice, 5)}`],
  (_dice) => ["^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$", "SGVsbG8gdGhlcmU=", "QQ=="],
  (dice) => ["^(\\d{1,3}\\.){3}\\d{1,3}(/\\d{1,2})?$", `${address(dice)}/24`, address(dice)],
  (dice) => ["^-?\\d{1,3}\\.\\d{1,6}$", `-${dice.from(1, 99)}.${digits(dice, 4)}`, "7.5"],
  (_dice) => ["^[a-z]{2}(-[A-Z]{2})?$", "en", "de-AT"],
  (dice) => ["^urn:[a-z0-9][a-z0-9-]{0,31}:.+$", `urn:${dice.noun()}:${dice.noun()}:${dice.below(99)}`],
  (dice) => ["^x-", `x-${dice.noun()}`],
  (dice) => ["_id$", `${dice.noun()}_id`],
  (_dice) => ["^(?:\\d+|\\*)( (?:\\d+|\\*)){4}$", "0 4 * * *", "15 2 1 * *"],
  (dice, n) => [`^(?:[A-Z]{3}-){1,${3 + n}}\\d+$`, `EUR-USD-${dice.from(1, 999)}`],
  (dice) => ['^[^"\\\\<>]*$', dice.words(4)],
]

/** A pattern, now and then with lengths. */
export function patterned(dice: Dice, at = dice.below(patterns.length)): Shape {
  const [pattern, ...texts] = patterns[at](dice, dice.below(9))
  const bounds = dice.is(20) ? { maxLength: dice.from(120, 400) } : {}
  return fixed(dice, { type: "string", pattern, ...bounds }, ...texts)
}

export const patternCount = patterns.length

/** One of `count` strings. */
export function enumerated(dice: Dice, count: number): Shape {
  const style = dice.pick(["camel", "snake", "kebab", "pascal", "spaced"] as const)
  const options = dice.is(20)
    ? dice.names(count, style).map((name) => name.toUpperCase())
    : dice.names(count, style)
  if (dice.is(10)) options.push("größer", 'año "x"', "")
  const keywords = dice.is(80) ? { type: "string", enum: options } : { enum: options }
  return fixed(dice, keywords, ...options)
}
