import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { tokenrail } from "../../support/program.ts"

const person =
  '{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer","minimum":0}},"required":["name","age"],"additionalProperties":false}'

test("the program: ok is 0, a reject 1 with the place, a refusal 3, misuse 2", async () => {
  const directory = mkdtempSync(join(tmpdir(), "check-"))
  const file = (name: string, text: string) => {
    writeFileSync(join(directory, name), text)
    return join(directory, name)
  }
  const schema = file("schema.json", person)
  const good = file("good.json", '{"name": "Ada", "age": 36}\n')
  const bad = file("bad.json", '{"name": "Ada",\n "age": -1}\n')
  expect(await tokenrail(["check", good, "--schema", schema])).toMatchObject({
    code: 0,
    out: `${good}: ok\n`,
  })
  const rejected = await tokenrail(["check", good, bad, "--schema", schema])
  expect(rejected.code).toBe(1)
  expect(rejected.out).toMatch(/bad\.json: rejected at byte 25, line 2, column 10: expected /)
  const json = await tokenrail(["check", bad, "--schema", schema, "--json"])
  expect(JSON.parse(json.out)).toMatchObject({
    ok: false,
    accepted: false,
    prefix: false,
    offset: 25,
    line: 2,
    column: 10,
  })
  const lines = await tokenrail(["check", "-", "--regex", "a+b", "--jsonl"], "ab\naab\nba\n")
  expect([lines.code, lines.out.split("\n")[0], lines.out.split("\n")[2]]).toEqual([
    1,
    "-:1: ok",
    expect.stringMatching(/^-:3: rejected at byte 0/),
  ])
  expect((await tokenrail(["check", "-", "--choice", "yes", "no", "--prefix"], "ye")).code).toBe(0)
  const refused = await tokenrail([
    "check",
    good,
    "--schema",
    '{"type": "integer", "minimum": 5, "maximum": 3}',
  ])
  expect([refused.code, refused.out]).toEqual([3, ""])
  expect(refused.err).toMatch(/^tokenrail: .*(5|no value)/)
  for (const args of [
    ["check", good],
    ["check", join(directory, "none.json"), "--schema", schema],
    ["check", "--wrong"],
    ["chekc"],
  ]) {
    const misused = await tokenrail(args)
    expect([misused.code, misused.out], args.join(" ")).toEqual([2, ""])
    expect(misused.err).not.toBe("")
  }
})

test("--vocab reads token by token: the tokens are counted, and the first that is not allowed is named", async () => {
  const args = ["check", "-", "--schema", person, "--vocab", "runtime/embedded"]
  const good = await tokenrail([...args, "--json"], '{"name": "Ada <|im_end|> 日本", "age": 36}')
  const verdict = JSON.parse(good.out)
  expect([good.code, verdict.accepted, verdict.allowed]).toEqual([0, true, verdict.tokens])
  expect(verdict.tokens).toBeLessThan(45)
  const bad = await tokenrail(args, '{"name": "Ada", "age": -1}')
  expect([bad.code, bad.out]).toEqual([
    1,
    expect.stringMatching(
      /^-: rejected at token \d+ of \d+, at byte 2[234], line 1, column 2[345]: expected /,
    ),
  ])
  const part = await tokenrail([...args, "--prefix"], '{"name": "A')
  expect([part.code, part.out]).toEqual([0, expect.stringMatching(/^-: ok, \d+ tokens\n$/)])
  expect(await tokenrail(["check", "-", "--regex", "a", "--vocab", "nowhere"], "a")).toMatchObject({
    code: 2,
  })
})

test.each<[args: string[], text: string, line: RegExp]>([
  [["--gbnf", 'root ::= "a" [0-9]+'], "a12", /: ok$/],
  [["--gbnf", 'root ::= "a" [0-9]+'], "ab", /: rejected at byte 1, line 1, column 2: expected /],
  [["--lark", 'x: "a"~2', "--root", "x"], "aa", /: ok$/],
  [["--tag", '{"type":"tag","begin":"<f>","content":{"type":"any_text"},"end":"</f>"}'], "<f>x</f>", /: ok$/],
  [["--substring", "foo bar baz", "--unit", "words"], "bar baz", /: ok$/],
  [["--substring", "foo bar baz", "--unit", "words"], "ar", /: rejected at byte 0/],
  [["--gbnf", "root ::= <|im_start|> [ab]"], "<|im_start|>a", /: ok$/],
  [
    ["--gbnf", "root ::= <|im_start|> [ab]", "--vocab", "runtime/embedded"],
    "<|im_start|>a",
    /: ok, 2 tokens$/,
  ],
])("%j on %s", async (args, text, line) => {
  expect((await tokenrail(["check", "-", ...args], text)).out.trimEnd()).toMatch(line)
})

test("properties come in the order in which generate writes them, unless --order says otherwise", async () => {
  const text = '{"age": 36, "name": "Ada"}'
  const check = (...flags: string[]) => tokenrail(["check", "-", "--schema", person, ...flags], text)
  const rejected = await check()
  expect([rejected.code, rejected.out]).toEqual([
    1,
    '-: rejected at byte 2, line 1, column 3: expected more of the key "name". ' +
      "Only the order of the properties differs: --order any accepts it\n",
  ])
  expect(JSON.parse((await check("--json")).out).note).toMatch(/--order any/)
  expect((await check("--order", "any")).out).toBe("-: ok\n")
  expect((await check("--order", "schema")).out).not.toMatch(/any/)
  const week = '{"propertyNames": {"enum": ["mon", "sun", "tue"]}, "type": "object"}'
  expect((await tokenrail(["check", "-", "--schema", week], '{"tue": 1, "mon": 8}')).code).toBe(0)
})

test("--trace prints the state after each byte", async () => {
  const traced = await tokenrail(["check", "-", "--regex", "ab|ac", "--trace"], "ab")
  expect(traced.out.split("\n")).toEqual([
    "state 1, 1 thread",
    '  [a], ends "ab" ▸ end',
    '"a" leads to state 2, 1 thread',
    '  [b-c], ends "b" ▸ end',
    '"b" leads to state 3, 1 thread',
    "  end",
    "-: ok",
    "",
  ])
  const json = await tokenrail(["check", "-", "--regex", "ab|ac", "--trace", "--json"], "ax")
  expect(JSON.parse(json.out)).toMatchObject({
    ok: false,
    states: [{ read: null }, { read: '"a"', state: 'state 2, 1 thread\n  [b-c], ends "b" ▸ end' }],
  })
})
