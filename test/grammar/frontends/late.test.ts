/**
 * Front ends that a process imports after its first compilation. The parts of JSON Schema put
 * nothing into the tables of the process while they are loaded, so all worlds agree about them; the
 * others say that they came late. The order of imports is what is tested, so this runs in a process
 * of its own, over what is built.
 */
import { spawnSync } from "node:child_process"
import { resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { expect, test } from "vitest"

const program = `
  const load = (file) => import(${JSON.stringify(pathToFileURL(resolve("dist/grammar")).href)} + "/" + file + ".js")
  const { compilerOf } = await load("compiler")
  const { json } = await load("frontends/json")
  const { owners, enter, currentWorld } = await load("tables")
  const { beginWorld } = await load("worlds")
  const { States, DeadState } = await load("state")
  const accepts = (grammar, text) => {
    enter(grammar.world)
    const states = new States(grammar)
    const state = states.advance(states.start, new TextEncoder().encode(text))
    return state !== DeadState && states.isAccepting(state)
  }
  const sizeOf = (value) =>
    value instanceof Map || value instanceof Set ? value.size
    : Array.isArray(value) || ArrayBuffer.isView(value) ? value.length
    : typeof value === "object" && value !== null ? Object.values(value).map(sizeOf)
    : value
  const early = owners.length
  const sizes = () => JSON.stringify(owners.slice(0, early).map(({ table, fields }) => fields.map((field) => sizeOf(table[field]))))
  const first = compilerOf(json)({ kind: "json", schema: { enum: ["a", "b"] } }).grammar

  const before = sizes()
  const { regex } = await load("frontends/regex")
  const { formats } = await load("frontends/formats")
  const { texts } = await load("frontends/texts")
  const { metaschemas } = await load("frontends/metaschemas")
  const late = owners.slice(early)
  const found = { isUnchanged: sizes() === before, late: late.length, kept: late.filter(({ forget }) => forget === undefined).map(({ name }) => name) }

  const compile = compilerOf({ ...json, ...regex, ...formats, ...texts, ...metaschemas })
  const schema = { properties: { a: { pattern: "^a{2}$" }, b: { format: "hostname" }, c: { format: "date" } } }
  const grammars = [compile({ kind: "json", schema }).grammar]
  const old = currentWorld()
  for (let i = 0; i < 3; i++) {
    beginWorld()
    grammars.push(compile({ kind: "json", schema }).grammar)
  }
  enter(old)
  grammars.push(compile({ kind: "json", schema: { ...schema, maxProperties: 3 } }).grammar)
  found.accepts = [...grammars, ...grammars.toReversed()].flatMap((grammar) => [
    accepts(grammar, '{"a":"aa","b":"xn--4gbwdl.com","c":"2024-02-29"}'),
    !accepts(grammar, '{"a":"a"}'),
    !accepts(grammar, '{"c":"2023-02-29"}'),
    accepts(first, '"b"'),
    !accepts(first, '"c"'),
  ])

  const { gbnf } = await load("frontends/gbnf")
  try {
    compilerOf(gbnf)({ kind: "gbnf", text: 'root ::= "a"' })
  } catch (error) {
    found.refusal = [error.kind, error.message]
  }
  console.log(JSON.stringify(found))`

test("the parts of JSON Schema may come late, grammars may not", () => {
  const { stdout, stderr, status } = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
    encoding: "utf8",
  })
  expect([status, stderr]).toEqual([0, ""])
  const { late, accepts, ...found } = JSON.parse(stdout)
  expect(late).toBeGreaterThan(1)
  expect(accepts).toEqual(new Array(50).fill(true))
  expect(found).toEqual({
    isUnchanged: true,
    kept: [],
    refusal: [
      "unsupported",
      "the front end of kind gbnf was imported after the first compilation. Import it before",
    ],
  })
})
