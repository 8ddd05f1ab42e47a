/** Reads the blocks of code of a documentation page, and the comment before each block. */
import { readFileSync } from "node:fs"

/** A fenced block. */
export interface DocBlock {
  page: string
  /** Line of its fence, from 1. */
  line: number
  language: string
  text: string
  /** The `text` block behind it, if there is one: what it prints. */
  output: string | null
  /** The reason in the comment `<!-- not run: … -->` before it; null if there is none. */
  notRun: string | null
}

export function readBlocks(page: string): DocBlock[] {
  const text = readFileSync(page, "utf8")
  const found = [...text.matchAll(/(?:^<!-- not run: (.*) -->\n)?^```(\w*)\n([\s\S]*?)^```$/gm)]
  return found.map(([, notRun = null, language, body], at) => ({
    ...{ page, language, text: body, notRun },
    line: text.slice(0, found[at].index).split("\n").length + (notRun === null ? 0 : 1),
    output: found[at + 1]?.[2] === "text" ? found[at + 1][3] : null,
  }))
}

/** Commands of a block: a line that leaves a quote open goes on in the next. */
export function splitCommands(text: string): string[] {
  const lines: string[] = []
  for (const line of text.trim().split("\n")) {
    const open = lines.length > 0 && (lines.at(-1)!.match(/'/g)?.length ?? 0) % 2 === 1
    if (open) lines[lines.length - 1] += `\n${line}`
    else lines.push(line)
  }
  return lines
}
