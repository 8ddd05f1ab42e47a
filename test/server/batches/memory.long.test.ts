import { createWriteStream, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pipeline } from "node:stream/promises"
import { expect, test } from "vitest"
import { shell } from "../../support/program.ts"

/** Writes an input of so many lines of 8 kB. */
async function written(path: string, lineCount: number): Promise<void> {
  const content = "x".repeat(8_000)
  const lines = function* () {
    for (let i = 0; i < lineCount; i++) {
      const body = { model: "any", messages: [{ role: "user", content }] }
      yield `${JSON.stringify({ custom_id: `row-${i}`, method: "POST", url: "/v1/completions", body })}\n`
    }
  }
  await pipeline(lines, createWriteStream(path))
}

/** Checks and reads an input in a process of its own. Returns the MiB that it took at most. */
async function peakOf(path: string): Promise<number> {
  const program = `
    import { createReadStream } from "node:fs"
    import { checkInput, readInput } from "./dist/server/batches/lines.js"
    const { errors } = await checkInput(createReadStream(${JSON.stringify(path)}), { endpoint: null, maxLines: 50000 })
    if (errors.length > 0) throw new Error(errors[0].message)
    for await (const line of readInput(createReadStream(${JSON.stringify(path)}), null)) {}
    console.log(process.resourceUsage().maxRSS / 1024)`
  const { out, err } = await shell(`node --input-type=module -e '${program}'`)
  expect(err).toBe("")
  return Number(out)
}

test("an input of 160 MB takes no more memory than one of 8 MB", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tokenrail-memory-"))
  const peaks = []
  for (const lineCount of [1_000, 20_000]) {
    const path = join(folder, `${lineCount}.jsonl`)
    await written(path, lineCount)
    peaks.push(await peakOf(path))
  }
  rmSync(folder, { recursive: true })
  expect(peaks[1] - peaks[0]).toBeLessThan(64)
})
