/**
 * The reference of the public names, made from the declarations that the compiler writes.
 *
 * The compiler in use has no programming interface, but the declarations that it writes are regular: no bodies, no blank
 * lines, statements that end with a semicolon or with the brace of a class or an interface. So one scan over comments,
 * strings and brackets splits a file into statements and a class into members. The first comment of a file is about the file;
 * any other comment belongs to the statement behind it. An entry point names what it exports, and each name is followed
 * through `export … from` to the file that declares it.
 */
import { readFileSync } from "node:fs"
import { posix } from "node:path"

/** A public name. */
interface Name {
  readonly name: string
  /** Text of its doc comment, one line a paragraph; empty where there is none. */
  readonly doc: string
  /** Its declaration without private members. Overloads are several. */
  readonly signature: string
  /** The file that declares it. */
  readonly file: string
}

/** An entry point and its names, in the order of its index. */
export interface Entry {
  /** The specifiers by which it is imported. */
  readonly specifiers: readonly string[]
  /** What the header of its index says. */
  readonly doc: string
  readonly names: readonly Name[]
}

/** The entry points that `exports` of package.json lists with types. Those that share a file are one. O(bytes of their files). */
export function readEntries(root: string): Entry[] {
  const manifest = JSON.parse(readFileSync(posix.join(root, "package.json"), "utf8"))
  const byFile = new Map<string, string[]>()
  for (const [path, target] of Object.entries<{ types?: string }>(manifest.exports)) {
    if (target.types === undefined) continue
    const file = posix.join(root, target.types)
    byFile.set(file, [...(byFile.get(file) ?? []), manifest.name + path.slice(1)])
  }
  const modules = new Map<string, Module>()
  const open = (file: string): Module => {
    const module = modules.get(file) ?? readModule(file)
    modules.set(file, module)
    return module
  }
  return [...byFile].map(([file, specifiers]) => {
    const index = open(file)
    const names = [...index.exported.keys()].map((name) => resolve(index, name, open))
    return { specifiers, doc: index.header, names }
  })
}

/** The page, in Markdown. A name that an entry point takes over from another is described there, and linked here. */
export function printEntries(entries: readonly Entry[]): string {
  const owners = ownersOf(entries)
  const lines = [
    "# API",
    "",
    "Every public name: its contract and its declaration. This page is made from the doc comments; after a change",
    "`npm run build && npx vitest run test/api.test.ts --update` writes it again.",
    "",
    ...entries.map(({ specifiers, names }) => {
      const own = names.filter(({ name, file }) => owners.get(file + name) === specifiers[0])
      return `- [${specifiers.join(", ")}](#${anchor(title(specifiers))}): ${own.length} names`
    }),
  ]
  for (const { specifiers, doc, names } of entries) {
    lines.push("", `## ${title(specifiers)}`, "", doc)
    const taken = names.filter(({ name, file }) => owners.get(file + name) !== specifiers[0])
    for (const owner of new Set(taken.map(({ name, file }) => owners.get(file + name)))) {
      const links = taken
        .filter(({ name, file }) => owners.get(file + name) === owner)
        .map(({ name }) => `[\`${name}\`](#${anchor(name)})`)
      lines.push("", `From \`${owner}\`: ${links.join(", ")}.`)
    }
    for (const { name, doc, signature, file } of names) {
      if (owners.get(file + name) !== specifiers[0]) continue
      lines.push("", `### ${name}`, "", doc.replaceAll("\n", "\n\n"), "", "```ts", signature, "```")
    }
  }
  return `${lines.join("\n")}\n`
}

/** By file and name: the entry point that describes it, which is the one whose folder the file is in, else the first. */
function ownersOf(entries: readonly Entry[]): Map<string, string> {
  const owners = new Map<string, string>()
  for (const { specifiers, names } of entries) {
    for (const { name, file } of names) {
      const isHome = specifiers.some((specifier) => file.includes(`/${posix.basename(specifier)}/`))
      if (isHome || !owners.has(file + name)) owners.set(file + name, specifiers[0])
    }
  }
  return owners
}

const title = (specifiers: readonly string[]) => specifiers.join(", ")
/** As GitHub makes the anchor of a heading. */
const anchor = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\w -]/g, "")
    .replaceAll(" ", "-")

interface Module {
  readonly file: string
  readonly header: string
  /** Declarations by name. */
  readonly declared: ReadonlyMap<string, { doc: string; signature: string }>
  /** By exported name: the name that it has there, and the file; an empty file is this one. */
  readonly exported: ReadonlyMap<string, Link>
  /** By local name: where an import comes from. */
  readonly imported: ReadonlyMap<string, Link>
}

interface Link {
  readonly name: string
  readonly file: string
}

function resolve(module: Module, name: string, open: (file: string) => Module): Name {
  const link = module.exported.get(name)
  if (link === undefined) throw new Error(`${module.file} does not export ${name}`)
  const declaration = module.declared.get(link.name)
  if (link.file === "" && declaration) return { name, ...declaration, file: module.file }
  const from = link.file === "" ? module.imported.get(link.name) : link
  if (from === undefined) throw new Error(`${module.file} exports ${name} and does not declare it`)
  return { ...resolve(open(from.file), from.name, open), name }
}

function readModule(file: string): Module {
  const source = readFileSync(file, "utf8")
  // The compiler drops a header together with imports of types: then the first comment is that of the first statement.
  const first = /^\/\*\*[\s\S]*?\*\//.exec(source)?.[0] ?? ""
  const isHeader = !/^\s*export (?:declare )?(?:abstract )?(?:class|interface|type|const|function) \w/.test(
    source.slice(first.length),
  )
  const header = isHeader ? first : ""
  const declared = new Map<string, { doc: string; signature: string }>()
  const exported = new Map<string, Link>()
  const imported = new Map<string, Link>()
  for (const { comment, code } of split(source.slice(header.length))) {
    const list = /^(import|export) (?:type )?\{([^}]*)\}(?: from "([^"]+)")?;$/.exec(code)
    if (list) {
      const [, verb, names, from] = list
      const target = from?.startsWith(".")
        ? declarations(posix.join(posix.dirname(file), from))
        : (from ?? "")
      for (const item of names.split(",").map((name) => name.trim().replace(/^type /, ""))) {
        const [there, here = there] = item.split(" as ")
        if (there === "") continue
        if (verb === "import") imported.set(here, { name: there, file: target })
        else exported.set(here, { name: there, file: target })
      }
      continue
    }
    if (code.startsWith("export *") || code.startsWith("export default")) {
      throw new Error(`${file}: ${code} names nothing`)
    }
    const head = /^(export )?(?:declare )?(?:abstract )?(?:class|interface|type|const|function) (\w+)/.exec(
      code,
    )
    if (head === null) continue
    const [, isExported, name] = head
    const earlier = declared.get(name)
    const signature = tidy(code)
    declared.set(name, {
      doc: earlier?.doc || textOf(comment),
      signature: earlier ? `${earlier.signature}\n${signature}` : signature,
    })
    if (isExported) exported.set(name, { name, file: "" })
  }
  return { file, header: textOf(header), declared, exported, imported }
}

const declarations = (path: string) => path.replace(/\.ts$/, ".d.ts")

interface Piece {
  /** The comment in front of it; empty where there is none. */
  readonly comment: string
  readonly code: string
}

const marks = /\/\*[\s\S]*?\*\/|\/\/.*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`|=>|[{}()[\]<>;]/g

/** Statements of a file, or members of a class. */
function split(source: string): Piece[] {
  const pieces: Piece[] = []
  let depth = 0
  let start = 0
  let comment = ""
  for (const { 0: mark, index } of source.matchAll(marks)) {
    const end = index + mark.length
    const isFresh = source.slice(start, index).trim() === ""
    if (mark.startsWith("/")) {
      if (!isFresh) continue
      comment = mark
      start = end
    } else if ("{([<".includes(mark)) depth++
    else if ("})]>".includes(mark)) depth--
    if (depth > 0) continue
    // The brace of a type or of a value is followed by a semicolon, that of a class or an interface is not.
    const isBlock =
      mark === "}" && /^(export )?(declare )?(abstract )?(class|interface) /.test(source.slice(start).trim())
    if (mark !== ";" && !isBlock) continue
    pieces.push({ comment, code: source.slice(start, end).trim() })
    start = end
    comment = ""
  }
  return pieces
}

/** A declaration as the page shows it: two spaces a level, no `export declare`, no private members. */
function tidy(code: string): string {
  const bare = code.replace(/^export /, "").replace(/^declare /, "")
  const open = bare.search(/\{\n/)
  if (!/^(abstract )?class /.test(bare) || open < 0) return indent(bare)
  const members = split(bare.slice(open + 1, -1))
    .filter(({ code }) => !/^(private (?!constructor)|#)/.test(code))
    .flatMap(({ comment, code }) => (comment === "" ? [code] : [comment, code]))
  return indent([bare.slice(0, open + 1), ...members.map((line) => `    ${line}`), "}"].join("\n"))
}

function indent(code: string): string {
  return code.replace(/^ +/gm, (spaces) => " ".repeat((spaces.length >> 2) * 2 + (spaces.length & 3)))
}

/** The text of a comment: lines of one paragraph joined, list items and paragraphs a line each. */
function textOf(comment: string): string {
  return comment
    .replace(/^\/\*\*?|\*\/$/g, "")
    .split("\n")
    .map((line) => line.replace(/^\s*\*? ?/, "").trimEnd())
    .join("\n")
    .trim()
    .split(/\n{2,}|\n(?=[-*] )/)
    .map((paragraph) => paragraph.replaceAll("\n", " "))
    .join("\n")
}
