import { CommanderError } from "commander"
import { expect, test } from "vitest"
import { GrammarError, ModelError, RequestError, StoreError } from "../../../runtime/index.ts"
import { Exit, exitCode, outText, UsageError } from "../../../server/cli/exit.ts"
import { ioOf } from "../../support/io.ts"

test.each<[code: number, error: unknown]>([
  [Exit.Usage, new UsageError("no constraint")],
  [Exit.Usage, new StoreError("checksum", "the file is damaged")],
  [Exit.Usage, new RequestError("max_tokens_too_small", "max_tokens: 1 is too few")],
  [Exit.Refused, new GrammarError("syntax", "/type", "no such type")],
  [Exit.Model, new ModelError("no graph")],
])("%i is one line", (code, error) => {
  const io = ioOf()
  expect(exitCode(error, io)).toBe(code)
  expect(io.printed).toBe(`tokenrail: ${(error as Error).message}\n`)
})

test("what nobody foresaw shows where it happened", () => {
  const io = ioOf()
  expect(exitCode(new TypeError("internal: broken"), io)).toBe(Exit.Model)
  expect(io.printed).toMatch(/^tokenrail: internal: broken\n.*exit\.test\.ts/s)
  expect([exitCode("a text", ioOf())]).toEqual([Exit.Model])
})

test("commander has printed its own message by then", () => {
  const io = ioOf()
  expect(exitCode(new CommanderError(0, "commander.help", "help"), io)).toBe(Exit.Ok)
  expect(exitCode(new CommanderError(1, "commander.unknownOption", "unknown option"), io)).toBe(Exit.Usage)
  expect(io.printed).toBe("")
})

test.each([
  ["SIGINT", Exit.Interrupt],
  ["SIGTERM", Exit.Terminate],
])("after %s nothing else counts", (signal, code) => {
  const io = ioOf({ signal })
  expect([exitCode(new Error("aborted"), io), io.printed]).toEqual([code, ""])
})

test("what a server says does not control the terminal", () => {
  const io = ioOf()
  exitCode(new UsageError("status 500: \u001b]52;c;aGk=\u0007\u009b2J\r"), io)
  expect(io.printed).toBe("tokenrail: status 500: ?]52;c;aGk=??2J?\n")
})

test.each([
  [true, "a?[31mb\n\t?"],
  [false, "a\u001b[31mb\n\t\u009b"],
])("a model's text, if standard output is a terminal: %j", (isOutTerminal, expected) => {
  let printed = ""
  const out = (text: string) => {
    printed += text
  }
  outText("a\u001b[31mb\n\t\u009b", { out, isOutTerminal })
  expect(printed).toBe(expected)
})
