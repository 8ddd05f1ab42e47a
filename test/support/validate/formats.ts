/**
 * `format` as predicates on decoded texts, one per name, from the RFCs that JSON Schema names. Straight parsing: split,
 * then look at the parts. Unknown names hold for everything.
 */
import type { Draft } from "./dialect.ts"
import { isALabel, isIdnHostname } from "./idn.ts"

type Test = (text: string, draft: Draft) => boolean

const tests = new Map<string, Test>([
  ["date", isDate],
  ["time", isTime],
  ["date-time", isDateTime],
  ["duration", isDuration],
  ["email", (text) => isMailbox(text, false)],
  ["idn-email", (text) => isMailbox(text, true)],
  ["hostname", isHostname],
  ["idn-hostname", isIdnHostname],
  ["ipv4", isIpv4],
  ["ipv6", isIpv6],
  ["uri", (text) => isUri(text, false, true)],
  ["uri-reference", (text) => isUri(text, false, false)],
  ["iri", (text) => isUri(text, true, true)],
  ["iri-reference", (text) => isUri(text, true, false)],
  ["uri-template", isUriTemplate],
  ["json-pointer", isJsonPointer],
  ["relative-json-pointer", isRelativePointer],
  ["uuid", (text) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)],
  ["regex", isRegex],
])

/** Whether `text` has the format, by the rules of `draft`. */
export function isFormat(name: string, text: string, draft: Draft): boolean {
  return tests.get(name)?.(text, draft) ?? true
}

function isDate(text: string): boolean {
  const parts = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text)
  if (parts === null) return false
  const [year, month, day] = parts.slice(1).map(Number)
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  return date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day
}

function isTime(text: string): boolean {
  const parts = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[zZ]|([+-])(\d\d):(\d\d))$/.exec(text)
  if (parts === null) return false
  const [hour, minute, second] = parts.slice(1, 4).map(Number)
  const [offsetHour, offsetMinute] = parts.slice(5).map((part) => Number(part ?? 0))
  if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) return false
  if (second < 60) return true
  // A leap second is the last second of a UTC day.
  const offset = (offsetHour * 60 + offsetMinute) * (parts[4] === "-" ? -1 : 1)
  return (hour * 60 + minute - offset + 2880) % 1440 === 1439
}

function isDateTime(text: string): boolean {
  return /^.{10}[tT]/s.test(text) && isDate(text.slice(0, 10)) && isTime(text.slice(11))
}

function isDuration(text: string): boolean {
  if (/^P\d+W$/.test(text)) return true
  const [, date, time] = /^P([^T]*)(T.*)?$/s.exec(text) ?? []
  if (date === undefined || (date === "" && time === undefined)) return false
  const isRun = (part: string, units: string) => {
    const letters = part.replace(/\d+/g, "")
    return /^(\d+[A-Z])*$/.test(part) && units.includes(letters)
  }
  return isRun(date, "YMD") && (time === undefined || (time.length > 1 && isRun(time.slice(1), "HMS")))
}

function isMailbox(text: string, isInternational: boolean): boolean {
  // The last "@" splits: a domain holds none, a quoted local part may.
  const at = text.lastIndexOf("@")
  if (at < 1) return false
  const local = text.slice(0, at)
  const domain = text.slice(at + 1)
  const beyond = isInternational ? "\\u{80}-\\u{10ffff}" : ""
  const atom = `[A-Za-z0-9!#$%&'*+/=?^_\`{|}~${beyond}-]+`
  const quoted = `"([ !#-\\[\\]-~${beyond}]|\\\\[ -~])*"`
  if (!new RegExp(`^(${atom}(\\.${atom})*|${quoted})$`, "u").test(local)) return false
  if (new TextEncoder().encode(local).length > 64) return false
  const literal = /^\[(.*)\]$/su.exec(domain)?.[1]
  if (literal !== undefined) {
    return /^ipv6:/i.test(literal) ? isIpv6(literal.slice(5)) : isIpv4(literal)
  }
  const letter = `[A-Za-z0-9${beyond}]`
  const label = `${letter}([A-Za-z0-9${beyond}-]*${letter})?`
  return new RegExp(`^${label}(\\.${label})*$`, "u").test(domain)
}

function isHostname(text: string, draft: Draft): boolean {
  if (text.length === 0 || text.length > 253) return false
  return text.split(".").every((label) => {
    if (!/^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/.test(label)) return false
    return draft < 7 || !/^xn--/i.test(label) || isALabel(label)
  })
}

function isIpv4(text: string): boolean {
  const parts = text.split(".")
  return parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256)
}

function isIpv6(text: string): boolean {
  const halves = text.split("::")
  if (halves.length > 2) return false
  let count = 0
  for (const [i, half] of halves.entries()) {
    if (half === "") continue
    const groups = half.split(":")
    for (const [j, group] of groups.entries()) {
      if (/^[0-9a-f]{1,4}$/i.test(group)) count++
      else if (i === halves.length - 1 && j === groups.length - 1 && isIpv4(group)) count += 2
      else return false
    }
  }
  return halves.length === 2 ? count < 8 : count === 8
}

const ucschar =
  "\\u{a0}-\\u{d7ff}\\u{f900}-\\u{fdcf}\\u{fdf0}-\\u{ffef}" +
  Array.from({ length: 14 }, (_, i) => {
    const plane = (i + 1).toString(16)
    return `\\u{${plane}${i === 13 ? "1" : "0"}000}-\\u{${plane}fffd}`
  }).join("")
const privateUse = "\\u{e000}-\\u{f8ff}\\u{f0000}-\\u{ffffd}\\u{100000}-\\u{10fffd}"

function isUri(text: string, isInternational: boolean, needsScheme: boolean): boolean {
  // RFC 3986, appendix B.
  const split = /^(?:([^:/?#]+):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/su.exec(text)
  if (split === null) return false
  const [, scheme, authority, path, query = "", fragment = ""] = split
  if (scheme === undefined ? needsScheme || path.startsWith(":") : !/^[A-Za-z][A-Za-z0-9+.-]*$/.test(scheme))
    return false
  const common = `A-Za-z0-9._~!$&'()*+,;=${isInternational ? ucschar : ""}\\-`
  const holds = (part: string, more: string) =>
    new RegExp(`^([${common}${more}]|%[0-9A-Fa-f]{2})*$`, "u").test(part)
  if (authority !== undefined) {
    const at = authority.lastIndexOf("@")
    if (at >= 0 && !holds(authority.slice(0, at), ":")) return false
    const [, host, literal] = /^(\[([^[\]]*)\]|[^:[\]]*)(?::[0-9]*)?$/u.exec(authority.slice(at + 1)) ?? []
    if (host === undefined) return false
    if (literal === undefined) {
      if (!holds(host, "")) return false
    } else if (!isIpv6(literal) && !isFutureAddress(literal)) return false
  }
  return (
    holds(path, ":@/") && holds(query, `:@/?${isInternational ? privateUse : ""}`) && holds(fragment, ":@/?")
  )
}

function isFutureAddress(text: string): boolean {
  return /^v[0-9a-f]+\.[A-Za-z0-9._~!$&'()*+,;=:-]+$/i.test(text)
}

function isUriTemplate(text: string): boolean {
  const literal = new RegExp(
    `^([!#$&'()*+,./0-9:;=?@A-Z[\\]_a-z~${ucschar}${privateUse}-]|%[0-9A-Fa-f]{2})$`,
    "u",
  )
  const varchar = "([A-Za-z0-9_]|%[0-9A-Fa-f]{2})"
  const variable = `${varchar}(\\.?${varchar})*(\\*|:[1-9][0-9]{0,3})?`
  const expression = new RegExp(`^[+#./;?&=,!@|]?${variable}(,${variable})*$`)
  for (let at = 0; at < text.length; ) {
    if (text[at] === "{") {
      const end = text.indexOf("}", at)
      if (end < 0 || !expression.test(text.slice(at + 1, end))) return false
      at = end + 1
    } else {
      const piece =
        text[at] === "%" ? text.slice(at, at + 3) : String.fromCodePoint(text.codePointAt(at) as number)
      if (!literal.test(piece)) return false
      at += piece.length
    }
  }
  return true
}

function isJsonPointer(text: string): boolean {
  return text === "" || (text.startsWith("/") && !/~(?![01])/.test(text))
}

function isRelativePointer(text: string): boolean {
  const rest = /^(?:0|[1-9][0-9]*)(.*)$/s.exec(text)?.[1]
  return rest !== undefined && (rest === "#" || isJsonPointer(rest))
}

function isRegex(text: string): boolean {
  try {
    new RegExp(text, "u")
    return true
  } catch {
    return false
  }
}
