/**
 * The formats of JSON Schema as expressions over decoded text, anchored at both ends.
 *
 * Each is the grammar of its RFC, written as patterns that build on each other, with what patterns cannot say nicely
 * (lengths in octets, leap seconds) added by intersection and construction. Made on first use and kept.
 * `regex` is no regular language: a machine, see `patternformat.ts`.
 */
import { GrammarError } from "../errors.ts"
import { type ExprId, exprs } from "../lexeme/expr.ts"
import { parseRegex } from "../regex/parse.ts"
import { patternFormat } from "./patternformat.ts"

const { and, byteRange, concat, literal, loop, not, or } = exprs

function match(pattern: string): ExprId {
  return parseRegex(pattern, { flags: "u", mode: "match", path: "" })
}

/** At most `max` bytes of UTF-8. */
function atMostOctets(max: number): ExprId {
  return loop(byteRange(0, 0xff), 0, max)
}

// RFC 3339. February has its 29th in years that 4 divides, of the centuries only in those that 400 divides.
const leapYear = "(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)"
const date = `(?:\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-8]))|${leapYear}-02-29)`
const hourMinute = "(?:[01]\\d|2[0-3]):[0-5]\\d"
const fraction = "(?:\\.\\d+)?"

/**
 * RFC 3339 full-time. A leap second is 23:59:60 in UTC, so after `:60` the offset is fixed by the local time, one for
 * each sign: local − offset ≡ 23:59 (mod 24 h). Behind `+` it is one minute more than the local time, with a carry;
 * behind `-` it is 23:59 less the local time, without one. Hours and minutes are said apart and intersected, since
 * there are 1,440 local times.
 */
function time(): ExprId {
  const [zulu, parts, two] = [match("[Zz]"), match(fraction), match("\\d\\d")]
  const pair = (value: number) => literal(String(value).padStart(2, "0"))
  const leap = (hour: ExprId, minute: ExprId, sign: string, offsetHour: ExprId, offsetMinute: ExprId) =>
    [
      hour,
      literal(":"),
      minute,
      literal(":60"),
      parts,
      literal(sign),
      offsetHour,
      literal(":"),
      offsetMinute,
    ].reduceRight((rest, part) => concat(part, rest))
  const hours = Array.from({ length: 24 }, (_, hour) => hour)
  const minutes = Array.from({ length: 60 }, (_, minute) => minute)
  const last = pair(59)
  const others = match("[0-4]\\d|5[0-8]")
  const plus = [
    or(
      hours.flatMap((h) => [
        leap(pair(h), others, "+", pair(h), two),
        leap(pair(h), last, "+", pair((h + 1) % 24), two),
      ]),
    ),
    or(minutes.map((m) => leap(two, pair(m), "+", two, pair((m + 1) % 60)))),
  ]
  const minus = [
    or(hours.map((h) => leap(pair(h), two, "-", pair(23 - h), two))),
    or(minutes.map((m) => leap(two, pair(m), "-", two, pair(59 - m)))),
  ]
  const plain = match(`${hourMinute}:[0-5]\\d${fraction}(?:[Zz]|[+-]${hourMinute})`)
  return or([plain, and(plus), and(minus), concat(literal("23:59:60"), concat(parts, zulu))])
}

// Units follow each other without a gap.
const hms = "(?:\\d+H(?:\\d+M(?:\\d+S)?)?|\\d+M(?:\\d+S)?|\\d+S)"
const ymd = "(?:\\d+Y(?:\\d+M(?:\\d+D)?)?|\\d+M(?:\\d+D)?|\\d+D)"
const duration = `P(?:\\d+W|${ymd}(?:T${hms})?|T${hms})`

const octet = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)"
const ipv4 = `(?:${octet}\\.){3}${octet}`
// RFC 3986 spells out RFC 4291: `::` stands for at least one group.
const group = "[0-9A-Fa-f]{1,4}"
const lastGroups = `(?:${group}:${group}|${ipv4})`
const ipv6 = `(?:${[
  `(?:${group}:){6}${lastGroups}`,
  `::(?:${group}:){5}${lastGroups}`,
  `(?:${group})?::(?:${group}:){4}${lastGroups}`,
  ...[3, 2, 1, 0].map(
    (after, i) => `(?:(?:${group}:){0,${i + 1}}${group})?::(?:${group}:){${after}}${lastGroups}`,
  ),
  `(?:(?:${group}:){0,5}${group})?::${group}`,
  `(?:(?:${group}:){0,6}${group})?::`,
].join("|")})`

// RFC 1123. Labels in `xn--` form are judged by the IDNA rules and refused here.
const label = "[0-9A-Za-z](?:[0-9A-Za-z\\-]{0,61}[0-9A-Za-z])?"

function hostname(one: ExprId): ExprId {
  const more = loop(concat(literal("."), one), 0, Number.POSITIVE_INFINITY)
  return and([concat(one, more), atMostOctets(253)])
}

/** RFC 5321 Mailbox; `beyond` is what RFC 6531 adds to atoms, quoted strings and labels. */
function mailbox(beyond: string): ExprId {
  const atom = `[0-9A-Za-z!#$%&'*+\\-/=?^_\`{|}~${beyond}]+`
  const quoted = `"(?:[ !#-\\[\\]-~${beyond}]|\\\\[ -~])*"`
  const local = and([match(`${atom}(?:\\.${atom})*|${quoted}`), atMostOctets(64)])
  const letter = `[0-9A-Za-z${beyond}]`
  const subdomain = `${letter}(?:[0-9A-Za-z\\-${beyond}]{0,61}${letter})?`
  // Section 4.5.3.1.2 caps a domain at 255 octets; not counted here, as it squares the automaton.
  const domain = match(`${subdomain}(?:\\.${subdomain})*`)
  const address = match(`\\[(?:${ipv4}|[Ii][Pp][Vv]6:${ipv6})\\]`)
  return concat(local, concat(literal("@"), or([domain, address])))
}

// RFC 3987, section 2.2.
const ucschar =
  "\\u00a0-\\ud7ff\\uf900-\\ufdcf\\ufdf0-\\uffef" +
  Array.from({ length: 14 }, (_, plane) => {
    const start = plane === 13 ? 0x1000 : 0
    return `\\u{${(0x10000 * (plane + 1) + start).toString(16)}}-\\u{${(0x10000 * (plane + 1) + 0xfffd).toString(16)}}`
  }).join("")
const iprivate = "\\ue000-\\uf8ff\\u{f0000}-\\u{ffffd}\\u{100000}-\\u{10fffd}"

/** RFC 3986, or RFC 3987 with the characters `beyond` anywhere and `inQuery` in the query. */
function resource(beyond: string, inQuery: string, isReference: boolean): ExprId {
  const encoded = "%[0-9A-Fa-f]{2}"
  const unreserved = `0-9A-Za-z\\-._~${beyond}`
  const delimiters = "!$&'()*+,;="
  const character = `(?:[${unreserved}${delimiters}:@]|${encoded})`
  const userinfo = `(?:[${unreserved}${delimiters}:]|${encoded})*`
  // An IPv4 address is a registered name as well.
  const name = `(?:[${unreserved}${delimiters}]|${encoded})*`
  const address = `\\[(?:${ipv6}|[Vv][0-9A-Fa-f]+\\.[0-9A-Za-z\\-._~${delimiters}:]+)\\]`
  const authority = `(?:${userinfo}@)?(?:${address}|${name})(?::\\d*)?`
  const more = `(?:/${character}*)*`
  const path = (first: string) => `(?://${authority}${more}|/(?:${character}+${more})?|${first}${more}|)`
  const tail = `(?:\\?(?:${character}|[/?${inQuery}])*)?(?:#(?:${character}|[/?])*)?`
  const absolute = `[A-Za-z][0-9A-Za-z+\\-.]*:${path(`${character}+`)}${tail}`
  if (!isReference) return match(absolute)
  const firstSegment = `(?:[${unreserved}${delimiters}@]|${encoded})+`
  return match(`${absolute}|${path(firstSegment)}${tail}`)
}

/** RFC 6570; `'` is a literal (erratum 6937). */
function uriTemplate(): ExprId {
  const encoded = "%[0-9A-Fa-f]{2}"
  const literals = `(?:[!#$&-;=?-\\[\\]_a-z~${ucschar}${iprivate}]|${encoded})`
  const character = `(?:[0-9A-Za-z_]|${encoded})`
  const variable = `${character}(?:\\.?${character})*(?::[1-9]\\d{0,3}|\\*)?`
  return match(`(?:${literals}|\\{[+#./;?&=,!@|]?${variable}(?:,${variable})*\\})*`)
}

const pointer = "(?:/(?:[^~/]|~[01])*)*"

/** Host names of drafts before 07, which know nothing of `xn--`: not a name that a schema can write by accident. */
export const PlainHostname = "hostname (RFC 1034)"

const makers: Record<string, () => ExprId> = {
  date: () => match(date),
  time,
  "date-time": () => concat(match(date), concat(match("[Tt]"), formatExpr("time")!)),
  duration: () => match(duration),
  email: () => mailbox(""),
  "idn-email": () => mailbox("\\u0080-\\u{10ffff}"),
  hostname: () => hostname(and([match(label), not(match("[xX][nN]--[^]*"))])),
  [PlainHostname]: () => hostname(match(label)),
  ipv4: () => match(ipv4),
  ipv6: () => match(ipv6),
  uri: () => resource("", "", false),
  "uri-reference": () => resource("", "", true),
  iri: () => resource(ucschar, iprivate, false),
  "iri-reference": () => resource(ucschar, iprivate, true),
  "uri-template": uriTemplate,
  "json-pointer": () => match(pointer),
  "relative-json-pointer": () => match(`(?:0|[1-9]\\d*)(?:#|${pointer})`),
  regex: patternFormat,
  uuid: () => match("[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"),
}

const made = new Map<string, ExprId>()

/**
 * Texts of the format, or null when `name` is no format of the standard. The first call takes up to 20 ms. Throws
 * `unsupported` for `idn-hostname`: its labels are bounded in their Punycode form, so that every label so far would be
 * a state of its own and a mask would take minutes.
 */
export function formatExpr(name: string, path = ""): ExprId | null {
  const known = made.get(name)
  if (known !== undefined) return known
  if (name === "idn-hostname") {
    throw new GrammarError(
      "unsupported",
      path,
      'format "idn-hostname" is not enforced. Use "hostname", a pattern, or formats: "annotate"',
    )
  }
  if (!Object.hasOwn(makers, name)) return null
  const expr = makers[name]()
  made.set(name, expr)
  return expr
}
