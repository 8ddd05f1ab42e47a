/**
 * Format machines against their definitions as expressions: each of the two without the other is empty. And no machine
 * has a dead end.
 */
import { describe, expect, test } from "vitest"
import { formatExpr } from "../../../grammar/format/format.ts"
import { type DomainRules, domainExpr } from "../../../grammar/format/hostname.ts"
import { localPartExpr } from "../../../grammar/format/mailbox.ts"
import { PlainHostname } from "../../../grammar/format/names.ts"
import { type ExprId, exprs } from "../../../grammar/lexeme/expr/expr.ts"
import { exprLengths } from "../../../grammar/lexeme/expr/lengths.ts"
import { parseRegex } from "../../../grammar/regex/parse.ts"
import { reachOf } from "../../support/reach.ts"

const { and, byteRange, concat, literal, loop, not, or } = exprs

function match(pattern: string): ExprId {
  return parseRegex(pattern, { flags: "u", mode: "match", path: "" })
}

/** At most `max` bytes of UTF-8. */
function atMostOctets(max: number): ExprId {
  return loop(byteRange(0, 0xff), 0, max)
}

const leapYear = "(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)"
const date = `(?:\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-8]))|${leapYear}-02-29)`
const hourMinute = "(?:[01]\\d|2[0-3]):[0-5]\\d"
const fraction = "(?:\\.\\d+)?"

/** Behind `+` the offset is one minute more than the local time, with a carry; behind `-` it is 23:59 less that time. */
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

const label = "[0-9A-Za-z](?:[0-9A-Za-z\\-]{0,61}[0-9A-Za-z])?"

/** A bound on the name that is small, so that the two can be compared, but above that of a label. */
const maxOctets = 70

function domain(one: ExprId): ExprId {
  const more = loop(concat(literal("."), one), 0, Number.POSITIVE_INFINITY)
  return and([concat(one, more), atMostOctets(maxOctets)])
}

function wideDomain(): ExprId {
  const letter = "[0-9A-Za-z\\u0080-\\u{10ffff}]"
  return domain(match(`${letter}(?:[0-9A-Za-z\\-\\u0080-\\u{10ffff}]{0,61}${letter})?`))
}

/** RFC 5321; `beyond` is what RFC 6531 adds. */
function localPart(beyond: string): ExprId {
  const atom = `[0-9A-Za-z!#$%&'*+\\-/=?^_\`{|}~${beyond}]+`
  const quoted = `"(?:[ !#-\\[\\]-~${beyond}]|\\\\[ -~])*"`
  return and([match(`${atom}(?:\\.${atom})*|${quoted}`), atMostOctets(64)])
}

const rules: DomainRules = { maxOctets, isWide: false, prefixed: "plain" }

const definitions: [name: string, machine: () => ExprId, definition: () => ExprId][] = [
  ["date", () => formatExpr("date")!, () => match(date)],
  ["time", () => formatExpr("time")!, time],
  ["date-time", () => formatExpr("date-time")!, () => concat(match(date), concat(match("[Tt]"), time()))],
  ["a domain", () => domainExpr(rules), () => domain(match(label))],
  [
    "a domain without A-labels",
    () => domainExpr({ ...rules, prefixed: "none" }),
    () => domain(and([match(label), not(match("[xX][nN]--[^]*"))])),
  ],
  ["a wide domain", () => domainExpr({ ...rules, isWide: true }), wideDomain],
  ["a local part", () => localPartExpr(false), () => localPart("")],
  ["a wide local part", () => localPartExpr(true), () => localPart("\\u0080-\\u{10ffff}")],
]

describe("format machines", () => {
  test.each(definitions)(
    "%s: the machine and its definition are one language",
    { timeout: 120_000 },
    (_, makeMachine, makeDefinition) => {
      const [machine, definition] = [makeMachine(), makeDefinition()]
      expect(exprs.isNever(and([machine, not(definition)]))).toBe(true)
      expect(exprs.isNever(and([definition, not(machine)]))).toBe(true)
    },
  )

  const formats = ["date", "time", "date-time", PlainHostname, "email", "idn-email"]
  test.each(formats)("%s: every state has a way to the end", (name) => {
    const states = [formatExpr(name)!]
    const index = new Map([[states[0], 0]])
    const before: number[][] = [[]]
    for (let s = 0; s < states.length; s++) {
      const row = Array.from(exprs.row(states[s]))
      for (let i = 1; i < row.length; i += 2) {
        let target = index.get(row[i])
        if (target === undefined) {
          target = states.push(row[i]) - 1
          index.set(row[i], target)
          before.push([])
        }
        before[target].push(s)
      }
    }
    const open = states.flatMap((state, s) => (exprs.nullable(state) ? [s] : []))
    const live = new Set(open)
    for (let s = open.pop(); s !== undefined; s = open.pop()) {
      for (const from of before[s]) {
        if (live.has(from)) continue
        live.add(from)
        open.push(from)
      }
    }
    expect(live.size).toBe(states.length)
  })

  const lengthened: [name: string, machine: () => ExprId, counts: number[]][] = [
    ["date", () => formatExpr("date")!, [9, 10, 11]],
    ["time", () => formatExpr("time")!, [8, 9, 10, 11, 12, 14, 15]],
    ["date-time", () => formatExpr("date-time")!, [19, 20, 21, 22]],
    ["a short domain", () => domainExpr({ ...rules, maxOctets: 66 }), [0, 1, 2, 63, 64, 65, 66, 67]],
    ["a local part", () => localPartExpr(false), [0, 1, 2, 3, 63, 64, 65]],
    ["a wide local part", () => localPartExpr(true), [0, 1, 2, 3, 63, 64, 65]],
  ]

  test.each(lengthened)("%s: lengths are as the texts'", { timeout: 60_000 }, (_, make, counts) => {
    // The states on the way to random texts, each against the automaton.
    let seed = 7
    const random = (below: number) => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff
      return (seed >>> 8) % below
    }
    for (let round = 0; round < 4; round++) {
      let state = make()
      for (let i = random(40); i >= 0; i--) {
        const { low, high, from, to } = exprLengths(state)
        // Inside a character the automaton has no lengths of its own.
        const isInside = (exprs.row(state)[0] & 0xc0) === 0x80
        for (const count of isInside ? [] : counts) {
          const has = !exprs.isNever(and([state, loop(exprs.anyChar, count, count)]))
          if (count < low || count > high) expect([count, has]).toEqual([count, false])
          if (count >= from && count <= to) expect([count, has]).toEqual([count, true])
        }
        const row = Array.from(exprs.row(state))
        if (row.length === 0) break
        state = row[2 * random(row.length / 2) + 1]
      }
    }
  })

  test.each(["hostname", "email"])("%s: a clamped state reads short texts alike", (name) => {
    const bound = 5
    const texts = [
      "a",
      "-",
      ".",
      "a-",
      "a.",
      "abcde",
      "a-.",
      "a.b.c",
      "x.xn-",
      "@",
      "a@b",
      '"',
      "-----",
      "a.b-c",
      "aaaa.",
    ]
    let seed = 11
    const random = (below: number) => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff
      return (seed >>> 8) % below
    }
    for (let round = 0; round < 300; round++) {
      let state = formatExpr(name)!
      for (let i = random(280); i > 0; i--) {
        const row = Array.from(exprs.row(state))
        if (row.length === 0) break
        // Long labels and long names: letters more often than the rest.
        const letter = exprs.derivative(state, 0x61)
        state = letter !== 0 && random(8) > 0 ? letter : row[2 * random(row.length / 2) + 1]
      }
      const clamped = exprs.clamped(state, reachOf(bound))
      for (const text of texts) {
        let [a, b] = [state, clamped]
        for (const byte of new TextEncoder().encode(text)) {
          a = exprs.derivative(a, byte)
          b = exprs.derivative(b, byte)
          expect([round, text, a === 0, exprs.nullable(a)]).toEqual([round, text, b === 0, exprs.nullable(b)])
        }
      }
    }
  })
})
