import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { lockDirectory } from "../../../server/batches/directorylock.ts"

test.runIf(process.platform === "linux")(
  "a directory is locked by one process, until that ends",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "tokenrail-lock-"))
    symlinkSync(folder, `${folder}-link`)
    const lock = (then: string) => {
      const program = `
      import { lockDirectory } from "./dist/server/batches/directorylock.js"
      await lockDirectory(${JSON.stringify(`${folder}-link`)})
      ${then}`
      return spawnSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" })
    }
    expect(lock("process.kill(process.pid, 'SIGKILL')").signal).toBe("SIGKILL")
    await lockDirectory(folder)
    expect(lock("").stderr).toContain("another server uses it")
    rmSync(folder, { recursive: true })
    rmSync(`${folder}-link`)
  },
)
