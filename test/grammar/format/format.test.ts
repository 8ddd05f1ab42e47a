import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { formatExpr } from "../../../grammar/format/format.ts"
import { PlainHostname } from "../../../grammar/format/names.ts"
import { type ExprId, exprs } from "../../../grammar/lexeme/expr/expr.ts"

function accepts(id: ExprId, text: string): boolean {
  let left = id
  for (const byte of new TextEncoder().encode(text)) left = exprs.derivative(left, byte)
  return exprs.nullable(left)
}

const x63 = "x".repeat(63)

/** [format, accepted, rejected] */
const table: [string, string[], string[]][] = [
  [
    "date",
    ["2024-02-29", "0400-02-29", "0000-02-29", "2023-12-31"],
    ["2100-02-29", "2023-02-29", "2024-04-31", "24-01-01"],
  ],
  [
    "date",
    ["1963-06-19"],
    ["2013-350", "2013-W01", "1963-06-1৪", "2024-1-01", "2024-00-10", "2024-10-00", "+2024-01-01"],
  ],
  [
    "time",
    ["08:30:06Z", "08:30:06z", "08:30:06.123456789+23:59", "00:00:00-00:00"],
    ["08:30:06", "08:30:06+24:00"],
  ],
  [
    "time",
    ["23:59:60Z", "01:29:60+01:30", "00:29:60-23:30", "15:59:60.5-08:00"],
    ["22:59:60Z", "23:59:60+01:00", "23:59:61Z"],
  ],
  [
    "time",
    ["00:59:60+01:00", "23:58:60+23:59", "23:59:60-00:00"],
    ["00:00:60+00:00", "24:00:00Z", "08:30Z", "08:30:06.Z"],
  ],
  [
    "date-time",
    ["1963-06-19T08:30:06Z", "1990-12-31t15:59:60-08:00"],
    ["1963-06-19 08:30:06Z", "1990-02-31T15:59:59Z"],
  ],
  [
    "duration",
    ["P4DT12H30M5S", "P4Y", "PT0S", "P1M", "PT1M", "P2W", "P0001Y"],
    ["P1Y2D", "PT1H2S", "P1YT", "P", "PT0.5S"],
  ],
  ["duration", ["P1Y2M3DT4H5M6S"], ["-P1D", "P1WT1H", "P1W1D", "4DT12H", "P2D1Y", "p1d"]],
  [
    "email",
    ["joe@example.com", "te.s~t@x", '"joe b"@x.org', '"a\\"b"@x', "a@[127.0.0.1]", "a@[IPv6:::1]"],
    ["2962", "a@", "@x"],
  ],
  [
    "email",
    [`${"a".repeat(64)}@x`, `a@${x63}.${x63}`],
    [`${"a".repeat(65)}@x`, `a@${x63}x`, ".a@x", "a.@x", "a..b@x", "a@x."],
  ],
  ["email", ["a@a--b"], ["a@-x", "a@x-", "a@[127.0.0.300]", "a b@x", '"a"b@x', "é@x", "a@x_y", "a@[::1]"]],
  [
    "email",
    [`a@${`${x63}.`.repeat(3)}${x63}`],
    [`a@${`${x63}.`.repeat(4)}x`, `a@${`${"x".repeat(50)}.`.repeat(5)}xxxx`],
  ],
  ["idn-email", ["실례@실례.테스트", "é@x", "\u0085@x"], ["a\uff20x", "2962", `${"é".repeat(33)}@x`]],
  [
    "hostname",
    ["www.example.com", "a--b", "1host", x63, `${`${x63}.`.repeat(3)}${"x".repeat(61)}`],
    ["-a", "a-", "_a", "a."],
  ],
  [
    "hostname",
    ["xn-a"],
    ["", ".a", "a..b", `${x63}x`, `${`${x63}.`.repeat(3)}${"x".repeat(62)}`, "a b", "é", "XN--a"],
  ],
  [
    "ipv4",
    ["192.168.0.1", "0.0.0.0", "255.255.255.255"],
    ["01.2.3.4", "256.1.1.1", "1.2.3", "1.2.3.4.5", "1.2.3.4/24", "0x7f.1.1.1"],
  ],
  [
    "ipv6",
    ["::1", "::", "1::", "1:2:3:4:5:6:7:8", "::ffff:1.2.3.4", "1:2:3:4:5:6:7::"],
    ["1:2:3:4:5:6:7", "1::2::3", "::1%eth0"],
  ],
  [
    "ipv6",
    ["1:2:3:4:5:6:1.2.3.4", "::2:3:4:5:6:7:8"],
    ["[::1]", "::1/64", "1.2.3.4::", "12345::", "1:2:3:4:5:6:7:8::", "::1.2.3.04"],
  ],
  [
    "uri",
    [
      "http://foo.bar/?baz=qux#quux",
      "urn:a:b",
      "a:",
      "http://999.999.999.999",
      "http://a:",
      "http://[::1]:80/",
    ],
    ["1:b"],
  ],
  [
    "uri",
    ["ldap://[2001:db8::7]/c=GB?one", "a:%41"],
    ["//a", "a:%4", "a:\\", 'a:"', "a:<", "a:^", "a:{", "a:|", "a: ", "a:`", "a:é"],
  ],
  [
    "uri",
    ["http://[v1.fe]/", "a:/"],
    ["http://[::1", "http://::1]", "a://b@c@d", "http://a:b", "a:#b#c", "http://[1.2.3.4]"],
  ],
  ["uri-reference", ["./a:b", "//", "", "/abc", "#f", "?q", "a/b:c", "http://a"], ["1:b", "\\\\x", "#a\\b"]],
  [
    "iri",
    ["http://ƒøø.ßår/?∂éœ=πîx#πîüx", "a:?\ue000", "a://[V1.fe]"],
    ["a:\ue000", "/a", "a:\u0085", "a:\ufffe"],
  ],
  ["iri-reference", ["/âππ", "#ƒrägmênt", ""], ["\\\\WINDOWS", "#ƒräg\\mênt"]],
  [
    "uri-template",
    ["http://x/{term:1}/{term}", "{+a,b*}", "{?q}", "'", "{a.b}", "%20", "{v:9999}"],
    ["{}", "{a,}", "{a..b}"],
  ],
  [
    "uri-template",
    ["{%41}", "é", ""],
    ["{v:0}", "{v:01}", "{v:10000}", "{var=def}", "{", "}", "%2", "{a:1*}", "a b", "{a"],
  ],
  ["json-pointer", ["", "/", "/a~0b~1c", "/a\u0000b", "//", "/é"], ["/~2", "#/a", "a", "/~"]],
  ["relative-json-pointer", ["1", "0/foo", "2#", "0"], ["-1/a", "01", "01#", "0##", "/a", "", "120a", "0+1"]],
  [
    "uuid",
    ["2EB8AA08-aa98-11EA-B4Aa-73B441D16380", "00000000-0000-0000-0000-000000000000"],
    ["urn:uuid:2eb8aa08", "2eb8aa08aa9811eab4aa73b441d16380"],
  ],
]

describe("each format", () => {
  test.each(table)("%s %#", (name, accepted, rejected) => {
    const id = formatExpr(name)!
    for (const text of accepted) expect([text, accepts(id, text)]).toEqual([text, true])
    for (const text of rejected) expect([text, accepts(id, text)]).toEqual([text, false])
  })

  test("of every local time, exactly one positive and one negative offset fit a leap second", () => {
    const id = formatExpr("time")!
    const clock = (minutes: number) =>
      [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, "0")).join(":")
    for (const local of [0, 1, 59, 60, 719, 720, 1379, 1380, 1438, 1439]) {
      for (const sign of [1, -1]) {
        const fits: number[] = []
        for (let offset = 0; offset < 1440; offset++) {
          if (accepts(id, `${clock(local)}:60${sign > 0 ? "+" : "-"}${clock(offset)}`)) fits.push(offset)
        }
        expect(fits).toEqual([((((local - 1439) * sign) % 1440) + 1440) % 1440])
      }
    }
  })

  test("is plain for host names of old drafts", () => {
    const id = formatExpr(PlainHostname)!
    expect(["xn--4gbwdl.xn--wgbh1c", "a-", "a"].map((text) => accepts(id, text))).toEqual([true, false, true])
  })

  test("is null when it is unknown", () => {
    expect(formatExpr("color")).toBeNull()
    expect(formatExpr("toString")).toBeNull()
  })
})

const suite = "../shared/data/json-schema-test-suite/tests"

interface Group {
  schema: { format?: string }
  tests: { description: string; data: unknown; valid: boolean }[]
}

// Skipped when the suite is not beside the project.
describe.skipIf(!existsSync(suite))("JSON-Schema-Test-Suite", () => {
  const drafts = ["draft4", "draft6", "draft7", "draft2019-09", "draft2020-12"]
  test.each(drafts)("%s: every verdict of a format with an expression", (draft) => {
    const folder = join(suite, draft, "optional", "format")
    const wrong: string[] = []
    let count = 0
    for (const file of readdirSync(folder)) {
      const groups: Group[] = JSON.parse(readFileSync(join(folder, file), "utf8"))
      for (const { schema, tests } of groups) {
        const id = schema.format === undefined ? null : formatExpr(schema.format)
        if (id === null) continue
        for (const { description, data, valid } of tests) {
          if (typeof data !== "string") continue
          // Long U-labels of which only Punycode could tell that they fit are rejected: not complete.
          if (schema.format === "idn-hostname" && valid && data.length > 42) continue
          count++
          if (accepts(id, data) !== valid) wrong.push(`${file}: ${description}: ${JSON.stringify(data)}`)
        }
      }
    }
    expect(wrong).toEqual([])
    expect(count).toBeGreaterThan(100)
  })
})
