import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join, sep } from "node:path"
import { expect, test } from "vitest"

/** Which floors each floor may import. The architecture in one line; see the README. */
const lower = ["grammar", "mask", "sampler"]
const floors = { grammar: [], sampler: [], mask: ["grammar"], runtime: lower, server: ["runtime"] }

for (const [floor, below] of Object.entries<string[]>(floors)) {
  test(`${floor}/ imports only ${below.join(", ") || "itself"}`, () => {
    for (const name of readdirSync(floor, { recursive: true, encoding: "utf8" })) {
      if (!name.endsWith(".ts") || name.startsWith("playground")) continue
      for (const [, from] of readFileSync(join(floor, name), "utf8").matchAll(/from "(\.{1,2}\/[^"]+)"/g)) {
        expect([floor, ...below], `${floor}/${name} imports ${from}`).toContain(
          join(floor, dirname(name), from).split(sep)[0],
        )
      }
    }
  })
}

test("grammar/, mask/ and sampler/ run in a browser: no node: module", () => {
  for (const floor of lower) {
    for (const name of readdirSync(floor, { recursive: true, encoding: "utf8" })) {
      if (!name.endsWith(".ts")) continue
      expect(readFileSync(join(floor, name), "utf8"), `${floor}/${name}`).not.toMatch(/from "node:/)
    }
  }
})

test("server/app.ts and what it imports of server/ run in a browser: node: modules come by import() alone", () => {
  const files = ["server/app.ts"]
  for (const file of files) {
    const source = readFileSync(file, "utf8")
    expect(source, file).not.toMatch(/from "node:/)
    for (const [, from] of source.matchAll(/from "(\.{1,2}\/[^"]+)"/g)) {
      const path = join(dirname(file), from)
      if (path.startsWith("server") && !files.includes(path)) files.push(path)
    }
  }
  expect(files.length).toBeGreaterThan(10)
})

test("top-level folders are the five floors and test/, with docs/ and examples/ beside them", () => {
  const tracked = ["grammar", "mask", "runtime", "sampler", "server", "test"]
  const beside = ["docs", "examples"]
  const ignored = ["node_modules", "dist", "coverage"]
  const folders = readdirSync(".", { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith(".") && !ignored.includes(entry.name))
    .map((entry) => entry.name)
  expect(folders.filter((folder) => !beside.includes(folder)).sort()).toEqual(tracked)
  expect(tracked.every((folder) => existsSync(folder))).toBe(true)
})
