/**
 * Finds the place of a refusal in the text of a constraint: a JSON pointer, line and column, or an
 * offset, as `GrammarError.path` has them.
 */
import type { ensureSyntaxTree } from "@codemirror/language"

export type Tree = NonNullable<ReturnType<typeof ensureSyntaxTree>>
type SyntaxNode = Tree["topNode"]

export interface Range {
  from: number
  to: number
}

/** Returns the range that a path names in `text`; null if it names none. */
export function rangeOf(path: string, text: string, tree: Tree | null): Range | null {
  const [, pointer = "", rest = ""] = /^((?:\/[^,]*)?)(?:, )?(.*)$/s.exec(path) ?? []
  const pointed = tree && path.startsWith("/") ? pointedBy(path, text, tree) : null
  if (pointed) return pointed
  if (pointer !== "" && tree) return pointedBy(pointer, text, tree)
  const [, line, column] = /^line (\d+), column (\d+)/.exec(rest) ?? []
  if (line !== undefined) return atColumn(text, Number(line), Number(column))
  const [, offset] = /^offset (\d+)/.exec(rest) ?? []
  return offset === undefined ? null : grown(text, Number(offset))
}

function atColumn(text: string, line: number, column: number): Range {
  const lines = text.split("\n")
  const start = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0)
  const before = [...(lines[line - 1] ?? "")].slice(0, column - 1).join("")
  return grown(text, Math.min(text.length, start + before.length))
}

/** Returns the word at a place, or a character of it. */
function grown(text: string, from: number): Range {
  const start = Math.min(from, text.length)
  const [word = ""] = /^[\w-]+/.exec(text.slice(start)) ?? []
  const to = Math.min(text.length, start + Math.max(1, word.length))
  // At the end of the text the last character is marked.
  return start < to ? { from: start, to } : { from: Math.max(0, start - 1), to: start }
}

/**
 * Returns the range of the member that a JSON pointer names; that of the last one on its way that
 * exists.
 */
function pointedBy(pointer: string, text: string, tree: Tree): Range | null {
  let node: SyntaxNode | null = tree.topNode.firstChild
  let found: Range | null = null
  for (const part of pointer.split("/").slice(1)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~")
    const next: { node: SyntaxNode; range: Range } | null = node && memberOf(node, name, text)
    if (next === null) return found
    node = next.node
    found = next.range
  }
  return found
}

function memberOf(node: SyntaxNode, name: string, text: string): { node: SyntaxNode; range: Range } | null {
  if (node.name === "Object") {
    for (const property of node.getChildren("Property")) {
      const key = property.getChild("PropertyName")
      const value = property.lastChild
      if (!key || !value || nameOf(text.slice(key.from, key.to)) !== name) continue
      const isShort = !text.slice(key.from, value.to).includes("\n")
      return { node: value, range: { from: key.from, to: isShort ? value.to : key.to } }
    }
  }
  if (node.name === "Array" && /^\d+$/.test(name)) {
    const values: SyntaxNode[] = []
    for (let child = node.firstChild; child; child = child.nextSibling) {
      if (/^(?:Object|Array|String|Number|True|False|Null)$/.test(child.name)) values.push(child)
    }
    const value = values[Number(name)]
    if (value === undefined) return null
    const line = text.slice(value.from, value.to).indexOf("\n")
    return { node: value, range: { from: value.from, to: line < 0 ? value.to : value.from + line } }
  }
  return null
}

function nameOf(literal: string): string {
  try {
    return JSON.parse(literal) as string
  } catch {
    return literal
  }
}
