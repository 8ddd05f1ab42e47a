import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join, sep } from "node:path"
import { expect, test } from "vitest"

/** Which floors each floor may import. The architecture in one line; see the README. */
const lower = ["grammar", "mask", "sampler"]
const floors = { grammar: [], sampler: [], mask: ["grammar"], runtime: lower, server: ["runtime"] }

/** TypeScript files below a folder, as paths from the root with `/`. */
function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => `${folder}/${name.split(sep).join("/")}`)
}

/** Relative imports of a file, types, `import()` and bare ones included, as paths from the root. */
function importsOf(file: string): string[] {
  const found = readFileSync(file, "utf8").matchAll(/(?:from |import |import\()"(\.{1,2}\/[^"]+)"/g)
  return [...found].map(([, path]) => join(dirname(file), path).split(sep).join("/"))
}

for (const [floor, below] of Object.entries<string[]>(floors)) {
  test(`${floor}/ imports only ${below.join(", ") || "itself"}`, () => {
    for (const file of filesOf(floor)) {
      if (file.startsWith("server/playground/")) continue
      for (const path of importsOf(file))
        expect([floor, ...below], `${file} imports ${path}`).toContain(path.split("/")[0])
    }
  })
}

/** The files of one circle of imports, first and last the same; null where there is none. */
function circleOf(importsOf: (file: string) => readonly string[], files: readonly string[]): string[] | null {
  const isDone = new Set<string>()
  const path: string[] = []
  const visit = (file: string): string[] | null => {
    if (isDone.has(file)) return null
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file]
    path.push(file)
    for (const next of importsOf(file)) {
      const circle = visit(next)
      if (circle !== null) return circle
    }
    path.pop()
    isDone.add(file)
    return null
  }
  for (const file of files) {
    const circle = visit(file)
    if (circle !== null) return circle
  }
  return null
}

test("no file imports itself through others, types included", () => {
  const files = [...Object.keys(floors), "test"].flatMap(filesOf)
  expect(files.length).toBeGreaterThan(400)
  // Tests hold programs as texts, with imports of what is built.
  const known = new Set(files)
  expect(circleOf((file) => importsOf(file).filter((path) => known.has(path)), files)).toBeNull()
  const circle: Record<string, string[]> = { a: ["b"], b: ["c", "d"], c: [], d: ["b"] }
  expect(circleOf((file) => circle[file], ["a"])).toEqual(["b", "d", "b"])
})

test("grammar/, mask/ and sampler/ run in a browser, and the same each time", () => {
  for (const file of lower.flatMap(filesOf)) {
    const code = readFileSync(file, "utf8").replace(/\/\*\*[\s\S]*?\*\/|\/\/ .*$/gm, "")
    expect(code, file).not.toMatch(/"node:/)
    expect(code, file).not.toMatch(/\b(?:Math\.random|crypto\.\w|process\.(?:env|argv)|setTimeout)\b/)
    // The one clock: `limits.compileMs` ends a compilation, and changes none that ends by itself.
    if (file !== "grammar/deadline.ts") expect(code, file).not.toMatch(/\b(?:Date|performance)\b\s*[.(]/)
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

/** Modules of the engine that a page bundles too; what needs Node is handed to them. */
const inPages = ["engine/engine", "model/directory", "model/ort/slim", "model/tokenizer", "prompt/encoder"]

test("the engine and what it imports run in a browser", () => {
  const files = inPages.map((name) => `runtime/${name}.ts`)
  for (const file of files)
    for (const next of valueImportsOf(file)) if (!files.includes(next)) files.push(next)
  expect(files.length).toBeGreaterThan(300)
  for (const file of files) {
    const code = readFileSync(file, "utf8").replace(/\/\*\*[\s\S]*?\*\/|\/\/ .*$/gm, "")
    expect(code, file).not.toMatch(/^import (?!type ).*"node:/m)
    expect(code, file).not.toMatch(/\b(?:Buffer|process)\.\w/)
    // It has the way of pages too.
    if (file !== "runtime/engine/turns.ts") expect(code, file).not.toMatch(/\bsetImmediate\b/)
  }
})

test("top-level folders are the five floors and test/, with docs/ and examples/ beside them", () => {
  const tracked = ["grammar", "mask", "runtime", "sampler", "server", "test"]
  const beside = ["docs", "examples"]
  const ignored = ["node_modules", "dist", "dist-masks", "coverage"]
  const folders = readdirSync(".", { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith(".") && !ignored.includes(entry.name))
    .map((entry) => entry.name)
  expect(folders.filter((folder) => !beside.includes(folder)).sort()).toEqual(tracked)
  expect(tracked.every((folder) => existsSync(folder))).toBe(true)
})

/**
 * The files of the reading list, and their lines; of `grammar/` and `mask/` also what they import
 * by value, at any depth.
 */
function core(): { list: string[]; closure: string[]; lines: (files: readonly string[]) => number } {
  const page = readFileSync("docs/ARCHITECTURE.md", "utf8")
  const section = page.slice(page.indexOf("## Reading order"), page.indexOf("## Rooms"))
  const list = [...section.matchAll(/`(\w+\/[\w/]+\.ts)`/g)].map(([, file]) => file)
  const closure = list.filter((file) => /^(?:grammar|mask)\//.test(file))
  for (const file of closure)
    for (const next of valueImportsOf(file)) if (!closure.includes(next)) closure.push(next)
  const lines = (files: readonly string[]) =>
    files.reduce((sum, file) => sum + readFileSync(file, "utf8").split("\n").length - 1, 0)
  return { list, closure, lines }
}

/** Relative imports of a file that bring more than types, as paths from the root. */
function valueImportsOf(file: string): string[] {
  const imports = readFileSync(file, "utf8").matchAll(
    /^(?:im|ex)port ([^"';]*?)(?:from )?"(\.{1,2}\/[^"]+)"/gm,
  )
  const hasValue = (names: string) =>
    !/^type /.test(names) && !/^\{(?:\s*type \w+(?: as \w+)?,?)*\s*\} $/.test(names)
  return [...imports]
    .filter(([, names]) => hasValue(names))
    .map(([, , path]) => join(dirname(file), path).split(sep).join("/"))
}

// These bounds are only lowered: a change that makes the core larger moves something out of it.
test("the reading list and what it imports stay small", () => {
  const { list, closure, lines } = core()
  expect(list.length).toBeGreaterThan(10)
  expect(lines(list), "lines of the reading list").toBeLessThanOrEqual(3_111)
  expect(closure.length, closure.join("\n")).toBeLessThanOrEqual(26)
  expect(lines(closure), "lines that the core imports").toBeLessThanOrEqual(4_578)
})
