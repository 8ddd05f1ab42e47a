/** The built program as a server: where it listens, and answers that run while something is done to it. */
import type { ChildProcess } from "node:child_process"
import { start } from "./program.ts"

/** The address that a starting server prints. */
export function address(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ""
    child.stdout!.on("data", (chunk) => {
      text += chunk
      const found = /http:\/\/\S+/.exec(text)
      if (found) resolve(found[0])
    })
    child.on("close", () => reject(new Error("it ended before it listened")))
  })
}

export const post = (url: string, fields: object) =>
  fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "any", messages: [{ role: "user", content: "hi" }], ...fields }),
  })

/** Sends a signal; resolves when the program has taken it. */
export function signalled(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  return new Promise((resolve) => {
    let text = ""
    child.stderr!.on("data", (chunk) => {
      text += chunk
      if (text.includes("no new requests")) resolve()
    })
    child.kill(signal)
  })
}

/** A constrained answer of 1,500 tokens. */
export const long = { structured_outputs: { regex: "[a-z]{1500}" } }

/** What still comes of a body, also when it is cut off. */
async function rest(response: Response, reader = response.body!.getReader()): Promise<string> {
  let text = ""
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read())
      text += new TextDecoder().decode(part.value)
  } catch {
    text += "(cut off)"
  }
  return text
}

/** Starts a server, and answers on it; resolves when the first of them streams. */
export async function busy(args: string[], streamCount: number): Promise<Busy> {
  const child = start(["serve", "--port", "0", "--any-model", ...args])
  const url = await address(child)
  // Compiled ahead, so that no answer ends before the last one begins.
  await post(url, { ...long, max_tokens: 1 })
  const streams = await Promise.all(
    Array.from({ length: streamCount }, () => post(url, { ...long, stream: true })),
  )
  const reader = streams[0].body!.getReader()
  // The role comes at once, the text behind it when the model has begun.
  for (let text = ""; !text.includes('"content":"') || /"content":""(?!.*"content":")/s.test(text); ) {
    const { value, done } = await reader.read()
    if (done) throw new Error(`the stream ended before its text: ${text}`)
    text += new TextDecoder().decode(value)
  }
  return { child, url, texts: streams.map((stream, i) => rest(stream, i === 0 ? reader : undefined)) }
}

export interface Busy {
  child: ChildProcess
  url: string
  texts: Promise<string>[]
}
