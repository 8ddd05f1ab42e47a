import { expect, test } from "vitest"
import { checkKey, isLocalName, isLoopback, readKeys } from "../../../server/http/access.ts"

test.each([
  ...["127.0.0.1", "127.255.0.9", "127.1", "localhost", "LOCALHOST", "app.localhost", "a.b.localhost"],
  ...["::1", "[::1]", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1", "[::ffff:7f00:1]", "::FFFF:127.9.9.9"],
])("%s is of this machine", (host) => {
  expect(isLoopback(host)).toBe(true)
})

test.each([
  ...["127.evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "evil.example", "notlocalhost"],
  ...["999.1.1.1", "127.0.0.999", "127.0.0.1.5", "128.0.0.1", "0.0.0.0", "10.0.0.1", ".localhost.x"],
  ...["::", "::2", "::ffff:10.0.0.1", "::127.0.0.1", "fe80::1", "[::1", "::1]", ""],
  ...[
    "localhost/x",
    "evil.example/127.0.0.1",
    "evil.example@localhost",
    "localhost:80",
    "local host",
    "%6cocalhost",
  ],
])("%s is not", (host) => {
  expect(isLoopback(host)).toBe(false)
})

test.each([
  ...["localhost", "127.0.0.1", "::1", "a.localhost", "mac.local", "MAC.local", "my-nas.home.local"],
  ...["host.docker.internal", "HOST.docker.internal", "gateway.docker.internal", "host.containers.internal"],
])("%s is a name of this machine or its network", (host) => {
  expect(isLocalName(host)).toBe(true)
})

test.each([
  ...[
    "local",
    ".local",
    "x..local",
    "a.local.evil.example",
    "evil.example",
    "xlocal",
    "host.docker.internal.x",
  ],
  ...["docker.internal", "x.internal", "10.0.0.1", "", "-x.local", "a b.local", "x@a.local", "a.local:80"],
])("%s is none", (host) => {
  expect(isLocalName(host)).toBe(false)
})

test("an empty key is no key; white space around one does not count", () => {
  expect(readKeys([" a\n", "b"])).toEqual(["a", "b"])
  expect(readKeys([])).toEqual([])
  for (const keys of [[""], [" \t\n"], ["a", ""]]) expect(() => readKeys(keys)).toThrow(RangeError)
})

const ask = (authorization?: string) =>
  checkKey(new Request("http://x/", authorization === undefined ? {} : { headers: { authorization } }), [
    "k e",
    "key",
  ])

test.each([
  ...[
    ["Bearer key", 1],
    ["bearer key", 1],
    ["BEARER   key", 1],
  ],
  ...[
    ["Bearer key  ", 1],
    ["bEaReR k e", 0],
  ],
])("%j passes, as key %i", async (given, key) => {
  await expect(ask(given as string)).resolves.toBe(key)
})

test("a key may come as x-api-key as well", async () => {
  const asked = (key: string) =>
    checkKey(new Request("http://x/", { headers: { "x-api-key": key } }), ["a", "b"])
  await expect(asked("b")).resolves.toBe(1)
  for (const wrong of ["c", "", "Bearer b"])
    await expect(asked(wrong)).rejects.toMatchObject({ code: "invalid_api_key" })
})

test("where no key is demanded, none is read", async () => {
  const headers = { authorization: "Bearer any" }
  await expect(checkKey(new Request("http://x/", { headers }), [])).resolves.toBe(-1)
})

test.each([
  undefined,
  "",
  "Bearer",
  "Bearer ",
  "key",
  "Basic key",
  "Bearerkey",
  "Bearer keys",
  "Bearer key key",
])("%j is turned away", async (given) => {
  await expect(ask(given)).rejects.toMatchObject({ code: "invalid_api_key" })
})
