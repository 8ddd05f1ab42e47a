/**
 * What contributors and releases rely on: the form of the changelog, the version of Node that CI
 * uses, and the width of comments.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"

const lines = readFileSync("CHANGELOG.md", "utf8").split("\n")
const start = lines.findIndex((line) => line.startsWith("## "))
const entries = lines.filter((line) => line.startsWith("- "))
const changes = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]

/** Lines below a heading, up to the next one that is at least as high. */
function below(heading: string): string[] {
  const level = heading.indexOf(" ")
  const rest = lines.slice(lines.indexOf(heading) + 1)
  const end = rest.findIndex((line) => /^#+ /.test(line) && line.indexOf(" ") <= level)
  return end < 0 ? rest : rest.slice(0, end)
}

test("the changelog begins with its unreleased changes, and each version has its date", () => {
  const [first, ...versions] = lines.filter((line) => line.startsWith("## "))
  expect(lines[0]).toBe("# Changelog")
  expect(first).toBe("## [Unreleased]")
  // release.yml finds the notes of a release by this form.
  const form = /^## \[\d+\.\d+\.\d+(-[\w.]+)?\] - \d{4}-\d{2}-\d{2}$/
  expect(versions.filter((heading) => !form.test(heading))).toEqual([])
})

test("every version of the changelog groups its changes by kind, in one order", () => {
  for (const version of lines.filter((line) => line.startsWith("## "))) {
    const kinds = below(version).flatMap((line) => /^### (.*)$/.exec(line)?.[1] ?? [])
    expect(kinds, version).toEqual(changes.filter((kind) => kinds.includes(kind)))
    const first = below(version).find((line) => line !== "" && !line.startsWith("["))
    expect(first ?? "### ", `${version} begins with a kind`).toMatch(/^### /)
  }
})

test("every line of the changelog is a heading, an entry or a link", () => {
  const others = lines
    .slice(start)
    .filter((line) => !/^(- .*|##{1,2} .*|\[[^\]]+\]: https:\/\/\S+)?$/.test(line))
  expect(others).toEqual([])
})

test("every entry of the changelog is a sentence of at most 160 characters", () => {
  expect(entries.filter((entry) => entry.length > 160)).toEqual([])
  expect(entries.filter((entry) => !/^- [`[A-Z].*\.$/.test(entry))).toEqual([])
})

test("no entry of the changelog comes twice", () => {
  const seen = entries.map((entry) => entry.toLowerCase().replace(/[^a-z0-9]+/g, " "))
  expect(entries.filter((_, at) => seen.indexOf(seen[at]) < at)).toEqual([])
})

test("CI tests the version of Node in .nvmrc", () => {
  const matrix = /^ *node: \[(.*)\]$/m.exec(readFileSync(".github/workflows/ci.yml", "utf8"))![1]
  expect(matrix.split(", ")).toContain(readFileSync(".nvmrc", "utf8").trim())
})

// Biome wraps code, not comments. Rows of tables and layouts stay on one line.
const wrapped = ["grammar", "mask", "runtime", "sampler", "server"]
test.each(wrapped)("comments of %s/ have at most 100 columns", (floor) => {
  const names = readdirSync(floor, { recursive: true, encoding: "utf8" })
  const wide = names
    .filter((name) => name.endsWith(".ts"))
    .flatMap((name) => {
      const lines = readFileSync(join(floor, name), "utf8").split("\n")
      return lines.flatMap((line, at) => {
        const isComment = /^\s*(\/\/|\/?\*)/.test(line)
        const isRow = / \| |^\s*\* {3}/.test(line)
        return isComment && !isRow && line.length > 100 ? [`${name}:${at + 1}`] : []
      })
    })
  expect(wide).toEqual([])
})
