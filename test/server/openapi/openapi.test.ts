/** The description at /openapi.json: it is valid, and has exactly the routes of the application. */
import { Validator } from "@seriousme/openapi-schema-validator"
import type { Hono } from "hono"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type Engine, open } from "../../../runtime/index.ts"
import { type App, type AppOptions, createApp } from "../../../server/app.ts"
import { operations } from "../../../server/openapi/operations.ts"
import { checksOf, type Document, documentOf } from "../../support/openapi.ts"

let engine: Engine
let app: App
let document: Document
beforeAll(async () => {
  engine = await open({ device: "cpu", slots: 2 })
  app = createApp(engine, { ollama: true })
  document = await documentOf(app)
})
afterAll(() => engine.close())

const with_ = (options: AppOptions) => documentOf(createApp(engine, options))

/** Methods and paths, as the document spells them. */
const described = ({ paths }: Document): string[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )

/** Methods and paths that the application answers. */
const routed = (of: App): string[] => {
  const { routes } = of as unknown as Hono
  const answered = routes.filter(({ method, path }) => method !== "ALL" && path !== "/*")
  return answered.map(({ method, path }) => `${method} ${path.replace(/:(\w+)(\{[^}]*\})?/g, "{$1}")}`)
}

test("it is a valid OpenAPI 3.1 document, with and without options", async () => {
  for (const each of [document, await with_({}), await with_({ apiKeys: ["k"], metricsPublic: true })]) {
    const { valid, errors } = await new Validator().validate(structuredClone(each) as never)
    expect(errors ?? []).toEqual([])
    expect(valid).toBe(true)
  }
  const broken = structuredClone(document)
  Reflect.deleteProperty(broken, "info")
  expect((await new Validator().validate(broken as never)).valid).toBe(false)
})

test("it has exactly the routes of the application; those it leaves out answer 404", async () => {
  const left = routed(app).filter((route) => !described(document).includes(route))
  expect(described(document).filter((route) => !routed(app).includes(route))).toEqual([])
  for (const route of left) {
    const [method, path] = route.split(" ")
    const response = await app.request(path.replace(/\{\w+\}/, "x"), { method })
    expect([route, response.status]).toEqual([route, 404])
  }
  expect(left.every((route) => / \/api\//.test(route))).toBe(true)
  const plain = createApp(engine)
  expect(described(await documentOf(plain)).sort()).toEqual(routed(plain).sort())
  expect(routed(plain).length).toBeGreaterThan(30)
})

test("every operation has a route, and a name of its own", () => {
  const ids = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  )
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids).toEqual(expect.arrayContaining(Object.keys(operations)))
})

test("what is off is left out, and so are its schemas and its group", async () => {
  const plain = await with_({})
  expect(described(plain).filter((route) => route.includes("/api/"))).toEqual([])
  expect(Object.keys(plain.components.schemas).filter((name) => /ollama/i.test(name))).toEqual([])
  expect(plain.tags.map(({ name }) => name)).not.toContain("Ollama")
  expect(plain.security).toBeUndefined()
})

test("keys: all routes but the open ones need one; the document itself is open", async () => {
  const keyed = createApp(engine, { apiKeys: ["k"], ollama: true })
  const told = await documentOf(keyed)
  expect(told.security).toEqual([{ bearer: [] }, { apiKey: [] }])
  const open = described(told).filter((route) => {
    const [method, path] = route.split(" ")
    return told.paths[path][method.toLowerCase()].security?.length === 0
  })
  for (const route of described(told)) {
    const [method, path] = route.split(" ")
    const response = await keyed.request(path.replace("{id}", path.startsWith("/docs") ? "page.js" : "x"), {
      method,
    })
    expect([route, response.status === 401]).toEqual([route, !open.includes(route)])
  }
})

test("every field of a request is described", () => {
  const bare = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).flatMap(({ operationId, requestBody }) => {
      const [schema] = Object.values(requestBody?.content ?? {}).map(({ schema }) => schema)
      const name = /[^/]+$/.exec(String(schema?.$ref))?.[0]
      const resolved = (name ? document.components.schemas[name] : schema) as
        | { properties: Record<string, object> }
        | undefined
      return Object.entries(resolved?.properties ?? {})
        .filter(([, field]) => !/"description"|"\$ref"/.test(JSON.stringify(field)))
        .map(([field]) => `${operationId}.${field}`)
    }),
  )
  expect(bare).toEqual([])
})

test("a reply with a member more, and one with a member less, is found", () => {
  const checks = checksOf(document)
  const { get } = document.paths["/version"]
  expect(checks.reply(get, 200, "application/json", { version: "1" })).toEqual([])
  expect(checks.reply(get, 200, "application/json", { version: "1", more: 1 })).toHaveLength(1)
  expect(checks.reply(get, 200, "application/json", {})).toHaveLength(1)
  expect(checks.reply(get, 201, "application/json", {})).toHaveLength(1)
})
