/** Replies of a server: what a body or a stream of `data:` lines holds. */
import { expect } from "vitest"

/** The body of a reply that must be whole and good. */
// biome-ignore lint/suspicious/noExplicitAny: replies are compared field by field
export async function bodyOf(response: Response): Promise<any> {
  const body = await response.json()
  expect(response.status, JSON.stringify(body)).toBe(200)
  return body
}

/** The chunks of a stream in OpenAI's form, which ends with `[DONE]`. */
// biome-ignore lint/suspicious/noExplicitAny: chunks are compared field by field
export async function chunksOf(response: Response): Promise<any[]> {
  expect(response.status).toBe(200)
  const lines = (await response.text()).split("\n\n").filter((line) => line.startsWith("data: "))
  expect(lines.at(-1)).toBe("data: [DONE]")
  return lines.slice(0, -1).map((line) => JSON.parse(line.slice("data: ".length)))
}
