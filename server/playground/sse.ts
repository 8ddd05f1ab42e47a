/** Reads server-sent events: one item for each block of lines, as it arrives. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ""
  try {
    for (;;) {
      const { done, value } = await reader.read()
      rest += decoder.decode(value, { stream: !done })
      const blocks = rest.split(/\r?\n\r?\n/)
      rest = blocks.pop() ?? ""
      for (const block of blocks) if (block !== "") yield block
      if (done) break
    }
    if (rest.trim() !== "") yield rest
  } finally {
    // Leaving the loop early ends the request.
    reader.cancel().catch(() => {})
  }
}

/** Returns the data of an event; "" for a comment. */
export function dataOf(block: string): string {
  const lines = block.split(/\r?\n/).filter((line) => line.startsWith("data:"))
  return lines.map((line) => line.slice("data:".length).replace(/^ /, "")).join("\n")
}
