/**
 * The formats of JSON Schema as expressions over decoded text, anchored at both ends.
 *
 * Each is the grammar of its RFC, written as patterns that build on each other. Machines replace
 * patterns that would be too large: bounds in octets (`hostname.ts`, `mailbox.ts`), calendars and
 * leap seconds (`timestamp.ts`), and `regex`, which is not a regular language (`patternformat.ts`).
 * Formats are made on first use and cached.
 */

import { type ExprId, exprs } from "../lexeme/expr/expr.ts"
import { parseRegex } from "../regex/parse.ts"
import { owned } from "../tables.ts"
import { domainExpr } from "./hostname.ts"
import { idnHostnameExpr } from "./idn/idnhostname.ts"
import { localPartExpr } from "./mailbox.ts"
import { type FormatName, isFormat, PlainHostname } from "./names.ts"
import { patternFormat } from "./pattern/patternformat.ts"
import { setSearchable } from "./searchable.ts"
import { dateExpr, dateTimeExpr, timeExpr } from "./timestamp.ts"

const { concat, literal, or } = exprs

function match(pattern: string): ExprId {
  return parseRegex(pattern, { flags: "u", mode: "match", path: "" })
}

// Units follow each other without a gap.
const hms = "(?:\\d+H(?:\\d+M(?:\\d+S)?)?|\\d+M(?:\\d+S)?|\\d+S)"
const ymd = "(?:\\d+Y(?:\\d+M(?:\\d+D)?)?|\\d+M(?:\\d+D)?|\\d+D)"
const duration = `P(?:\\d+W|${ymd}(?:T${hms})?|T${hms})`

const octet = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)"
const ipv4 = `(?:${octet}\\.){3}${octet}`
// RFC 3986 writes out RFC 4291: `::` stands for at least one group.
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

/**
 * Returns the mailboxes of RFC 5321, or of RFC 6531. Section 4.5.3.1.2 limits the domain to 255
 * octets.
 */
function mailbox(isWide: boolean): ExprId {
  const domain = domainExpr({ maxOctets: 255, isWide, prefixed: "plain" })
  const address = match(`\\[(?:${ipv4}|[Ii][Pp][Vv]6:${ipv6})\\]`)
  return concat(localPartExpr(isWide), concat(literal("@"), or([domain, address])))
}

// RFC 3987, section 2.2.
const ucschar =
  "\\u00a0-\\ud7ff\\uf900-\\ufdcf\\ufdf0-\\uffef" +
  Array.from({ length: 14 }, (_, plane) => {
    const start = plane === 13 ? 0x1000 : 0
    return `\\u{${(0x10000 * (plane + 1) + start).toString(16)}}-\\u{${(0x10000 * (plane + 1) + 0xfffd).toString(16)}}`
  }).join("")
const iprivate = "\\ue000-\\uf8ff\\u{f0000}-\\u{ffffd}\\u{100000}-\\u{10fffd}"

/**
 * Returns the texts of RFC 3986, or of RFC 3987 with the characters `beyond` anywhere and `inQuery`
 * in the query.
 */
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

/** Returns the templates of RFC 6570; `'` is a literal (erratum 6937). */
function uriTemplate(): ExprId {
  const encoded = "%[0-9A-Fa-f]{2}"
  const literals = `(?:[!#$&-;=?-\\[\\]_a-z~${ucschar}${iprivate}]|${encoded})`
  const character = `(?:[0-9A-Za-z_]|${encoded})`
  const variable = `${character}(?:\\.?${character})*(?::[1-9]\\d{0,3}|\\*)?`
  return match(`(?:${literals}|\\{[+#./;?&=,!@|]?${variable}(?:,${variable})*\\})*`)
}

const pointer = "(?:/(?:[^~/]|~[01])*)*"

const makers: Readonly<Record<FormatName, () => ExprId>> = {
  date: dateExpr,
  time: timeExpr,
  "date-time": dateTimeExpr,
  duration: () => match(duration),
  email: () => mailbox(false),
  "idn-email": () => mailbox(true),
  hostname: () => domainExpr({ maxOctets: 253, isWide: false, prefixed: "decoded" }),
  [PlainHostname]: () => domainExpr({ maxOctets: 253, isWide: false, prefixed: "plain" }),
  "idn-hostname": () => idnHostnameExpr(true),
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

/**
 * Formats with A-labels, whose prefixes are an unbounded number of states, and their languages
 * without A-labels.
 */
const narrowMakers: { readonly [Name in FormatName]?: () => ExprId } = {
  hostname: () => domainExpr({ maxOctets: 253, isWide: false, prefixed: "none" }),
  "idn-hostname": () => idnHostnameExpr(false),
}

const memo = owned("formats", { made: new Map<string, ExprId>() }, { forget })

/**
 * Returns the texts of the format, or null if `name` is not a format of the standard. The first
 * call takes up to 20 ms, for `idn-hostname` 0.3 s.
 */
export function formatExpr(name: string): ExprId | null {
  const known = memo.made.get(name)
  if (known !== undefined) return known
  if (!isFormat(name)) return null
  const expr = makers[name]()
  memo.made.set(name, expr)
  const makeNarrow = narrowMakers[name]
  if (makeNarrow !== undefined) setSearchable(expr, makeNarrow)
  return expr
}

function forget(): void {
  memo.made = new Map()
}
