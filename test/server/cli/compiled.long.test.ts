import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, test } from "vitest"
import { tokenrail } from "../../support/program.ts"

const directory = mkdtempSync(join(tmpdir(), "compiled-"))
afterAll(() => rmSync(directory, { recursive: true, force: true }))
const at = (name: string) => join(directory, name)

const closed =
  '{"type":"object","properties":{"a":{"type":"integer","minimum":1,"maximum":12}},"required":["a"],"additionalProperties":false}'
const open = '{"type":"object","properties":{"a":{"type":"integer"}}}'

test("a closed object is written as a machine, and check reads it like the schema", async () => {
  const { code, out } = await tokenrail(["compile", "--schema", closed, "--out", at("closed.rail")])
  expect([code, out]).toEqual([
    0,
    expect.stringMatching(/closed\.rail: a machine of \d+ states, \d+ bytes\n$/),
  ])
  for (const [text, status] of [
    ['{"a": 12}', 0],
    ['{"a": 13}', 1],
    ['{"b": 1}', 1],
  ] as const) {
    const spelt = await tokenrail(["check", "-", "--schema", closed], text)
    const compiled = await tokenrail(["check", "-", "--compiled", at("closed.rail")], text)
    expect(compiled.code).toBe(status)
    // The compiled one is spelt as models write, so it may expect less; where it leaves the text is the same.
    expect(compiled.out.split(": expected")[0]).toBe(spelt.out.split(": expected")[0])
  }
})

test("an open object is written as its source, and says why; --form machine refuses it", async () => {
  const { code, out } = await tokenrail([
    "compile",
    "--schema",
    open,
    "--order",
    "any",
    "--out",
    at("open.rail"),
    "--json",
  ])
  const { written, report } = JSON.parse(out)
  expect(code).toBe(0)
  expect(written).toMatchObject({ form: "source", bytes: readFileSync(at("open.rail")).length })
  expect(written.reason).toMatch(/more than 100000 states: names or items must differ/)
  const read = await tokenrail(["compile", "--compiled", at("open.rail"), "--json"])
  expect(JSON.parse(read.out)).toMatchObject({ form: "source", report })
  const refused = await tokenrail([
    "compile",
    "--schema",
    open,
    "--form",
    "machine",
    "--out",
    at("none.rail"),
  ])
  expect([refused.code, refused.err]).toEqual([3, expect.stringMatching(/more than 100000 states/)])
})

test("with a vocabulary the masks are in the file, and it is for that vocabulary", async () => {
  const vocab = ["--vocab", "runtime/embedded"]
  const written = await tokenrail(["compile", "--regex", "[ab]", "--out", at("ab.rail"), "--json", ...vocab])
  expect(JSON.parse(written.out)).toMatchObject({ allowed: 2, written: { form: "machine", states: 2 } })
  const read = await tokenrail(["compile", "--compiled", at("ab.rail"), "--json", ...vocab])
  expect(JSON.parse(read.out)).toMatchObject({ form: "machine", allowed: 2 })
  const other = await tokenrail(["check", "-", "--compiled", at("ab.rail")], "a")
  expect([other.code, other.err]).toEqual([
    2,
    expect.stringMatching(/vocabulary hash: [0-9a-f]{64} in the file/),
  ])
})

test("generate writes what a file allows", async () => {
  for (const form of ["machine", "source"]) {
    const file = at(`${form}.rail`)
    await tokenrail(["compile", "--choice", "left", "right", "--form", form, "--out", file])
    const { code, out, err } = await tokenrail(["generate", "Which way?", "--compiled", file, "--seed", "1"])
    expect([code, out], err).toEqual([0, expect.stringMatching(/^(left|right)\n$/)])
  }
  const both = await tokenrail(["generate", "x", "--compiled", at("machine.rail"), "--regex", "a"])
  expect([both.code, both.err]).toEqual([2, expect.stringMatching(/--compiled names the whole constraint/)])
})

test("a file that is none, is damaged or is not there; flags that exclude each other", async () => {
  await tokenrail(["compile", "--regex", "a+", "--out", at("good.rail")])
  const damaged = readFileSync(at("good.rail"))
  damaged[damaged.length - 40] ^= 1
  writeFileSync(at("bad.rail"), damaged)
  writeFileSync(at("text.rail"), "a+")
  for (const [file, message] of [
    ["bad.rail", /checksum: .* the file is damaged/],
    ["text.rail", /magic: this is not a compiled constraint/],
    ["gone.rail", /cannot read .*gone\.rail/],
  ] as const) {
    expect(await tokenrail(["check", "-", "--compiled", at(file)])).toMatchObject({
      code: 2,
      err: expect.stringMatching(message),
    })
  }
  const twice = await tokenrail(["check", "-", "--compiled", at("good.rail"), "--regex", "a"])
  const spelt = await tokenrail(["check", "-", "--compiled", at("good.rail"), "--order", "any"])
  for (const { code, err } of [twice, spelt]) {
    expect([code, err]).toEqual([2, expect.stringMatching(/--compiled names the whole constraint/)])
  }
  const unwritable = await tokenrail(["compile", "--regex", "a", "--out", join(directory, "no", "x.rail")])
  expect([unwritable.code, unwritable.err]).toEqual([2, expect.stringMatching(/cannot write/)])
})

test("a grammar that names tokens is written as its source, and reads them where it is read", async () => {
  const grammar = "root ::= <|im_start|> [ab]{2} <|im_start|>"
  const text = "<|im_start|>ab<|im_start|>"
  const vocab = ["--vocab", "runtime/embedded"]
  const written = await tokenrail(["compile", "--gbnf", grammar, "--out", at("any.rail")])
  expect([written.code, written.out]).toEqual([
    0,
    expect.stringMatching(/the tokens that the grammar names are unknown/),
  ])
  const spelled = await tokenrail(["check", "-", "--compiled", at("any.rail")], text)
  expect(spelled.out).toBe("-: ok\n")
  const read = await tokenrail(["check", "-", "--compiled", at("any.rail"), ...vocab], text)
  expect(read.out).toMatch(/^-: ok, [34] tokens\n$/)
  const refused = await tokenrail(["compile", "--gbnf", grammar, "--form", "machine", "--out", at("no.rail")])
  expect([refused.code, refused.err]).toEqual([2, expect.stringMatching(/needs --vocab/)])
  const plain = await tokenrail(["compile", "--gbnf", 'root ::= "a"+', ...vocab, "--out", at("plain.rail")])
  expect(plain.out).toMatch(/a machine of \d+ states/)
})
