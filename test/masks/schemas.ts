/** 200 schemas: those of the JSON Schema test suite where it is there, random ones beside them. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { randomSchema } from "../support/randomschemas.ts"

const suite = "../shared/data/json-schema-test-suite/tests/draft2020-12"
const Count = 200

/** The same list at every call, as long as the suite is the same. */
export function manySchemas(): unknown[] {
  const listed = existsSync(suite) ? suiteSchemas() : []
  const stride = Math.max(1, Math.ceil(listed.length / (Count / 2)))
  const some = listed.filter((_, index) => index % stride === 0)
  return [...some, ...Array.from({ length: Count - some.length }, (_, seed) => randomSchema(seed))]
}

function suiteSchemas(): unknown[] {
  return readdirSync(suite, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".json"))
    .sort()
    .flatMap((name) => JSON.parse(readFileSync(join(suite, name), "utf8")) as { schema: unknown }[])
    .map(({ schema }) => schema)
}
