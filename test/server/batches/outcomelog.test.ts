import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, test } from "vitest"
import { OutcomeLog } from "../../../server/batches/outcomelog.ts"

const folder = mkdtempSync(join(tmpdir(), "tokenrail-outcomelog-"))
afterAll(() => rmSync(folder, { recursive: true }))

const outcome = `{"id":"batch_req_1","custom_id":"a","response":null,"error":null}`
const path = join(folder, "log")

test.each(["{", `{"id":"batch_re`, outcome.slice(0, 30), outcome])(
  "a torn outcome is cut off: %s",
  async (part) => {
    for (const whole of ["", `${outcome}\n`]) {
      writeFileSync(path, whole + part)
      const found: string[] = []
      await (await OutcomeLog.open(path, (id) => found.push(id))).close()
      expect(found).toEqual(whole === "" ? [] : ["a"])
      expect(readFileSync(path, "utf8")).toBe(whole)
    }
  },
)

test.each(["my thesis", `{"id":"other`, " ", "no outcome\n"])(
  "a foreign file is left alone: %j",
  async (text) => {
    for (const whole of ["", `${outcome}\n`]) {
      writeFileSync(path, whole + text)
      await expect(OutcomeLog.open(path, () => {})).rejects.toThrow("is not an outcome")
      expect(readFileSync(path, "utf8")).toBe(whole + text)
    }
  },
)
