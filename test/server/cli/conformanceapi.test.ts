/** Which server and which key `conformance --suite api` and `bench --url` take. */
import { expect, test } from "vitest"
import { targetOf } from "../../../server/cli/conformanceapi.ts"
import { ioOf } from "../../support/io.ts"

const env = { TOKENRAIL_API_KEY: "own" }
const both = { ...env, TOKENRAIL_TARGET_KEY: "target" }

test.each<[host: string, env: Record<string, string>, flag: string | undefined, key: string | undefined]>([
  ["localhost:8080", env, undefined, "own"],
  ["[::1]:8080", env, undefined, "own"],
  ["127.0.0.1", both, undefined, "target"],
  ["127.0.0.1", both, "flag", "flag"],
  ["api.example.com", env, undefined, undefined],
  ["127.0.0.1.example.com", env, undefined, undefined],
  ["localhost@api.example.com", env, undefined, undefined],
  ["api.example.com", both, undefined, "target"],
  ["api.example.com", { ...env, TOKENRAIL_TARGET_KEY: "" }, undefined, undefined],
  ["api.example.com", both, "flag", "flag"],
])("the key for %s with %j and the flag %s", (host, env, flag, key) => {
  const flags = { url: `http://${host}/v1`, timeout: 1, time: 1, ...(flag && { apiKey: flag }) }
  expect(targetOf(flags, ioOf({ env })).apiKey).toBe(key)
})
