import { spawnSync } from "node:child_process"
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, test, vi } from "vitest"
import { lockDirectory } from "../../../server/batches/directorylock.ts"
import { openBatches } from "../../../server/batches/service.ts"
import { defaultBodyLimits, HeldBytes } from "../../../server/http/body.ts"

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "tokenrail-lock-"))
  folders.push(folder)
  return folder
}

/** Locks the folder in another process, and runs `then` there. */
function lockElsewhere(folder: string, then: string) {
  const program = `
    import { lockDirectory } from "./dist/server/batches/directorylock.js"
    await lockDirectory(${JSON.stringify(folder)})
    ${then}`
  return spawnSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" })
}

test.runIf(process.platform === "linux")(
  "a directory is locked by one process, until that ends",
  async () => {
    const folder = newFolder()
    symlinkSync(folder, `${folder}-link`)
    folders.push(`${folder}-link`)
    expect(lockElsewhere(`${folder}-link`, "process.kill(process.pid, 'SIGKILL')").signal).toBe("SIGKILL")
    expect(existsSync(join(folder, "lock"))).toBe(true)
    await lockDirectory(folder)
    expect(lockElsewhere(`${folder}-link`, "").stderr).toContain("another server uses it")
  },
)

test("a process that ends by itself removes its lock", () => {
  const folder = newFolder()
  expect(lockElsewhere(folder, "").status).toBe(0)
  expect(existsSync(join(folder, "lock"))).toBe(false)
})

test("a directory with the inode of a removed one, whose holder still runs, is free", async () => {
  const removed = newFolder()
  await lockDirectory(removed)
  const { ino } = statSync(removed)
  rmSync(removed, { recursive: true })
  // Most file systems use an inode again at once.
  const again = Array.from({ length: 50 }, newFolder).find((folder) => statSync(folder).ino === ino)
  expect(lockElsewhere(again ?? newFolder(), "").stderr).toBe("")
})

/** What a holder in another container writes: it shares no socket with this process. */
const foreign = (beat: number) => JSON.stringify({ id: "other", machine: "elsewhere", beat })
const quick = { beatMs: 20, staleMs: 100 }

test("a holder elsewhere that writes on has the directory", async () => {
  const folder = newFolder()
  const file = join(folder, "lock")
  let beat = 0
  writeFileSync(file, foreign(beat))
  const timer = setInterval(() => writeFileSync(file, foreign(++beat)), 5)
  await expect(lockDirectory(folder, quick)).rejects.toThrow("another server uses it")
  clearInterval(timer)
})

test("a holder elsewhere that writes no more has ended", async () => {
  const folder = newFolder()
  const file = join(folder, "lock")
  writeFileSync(file, foreign(0))
  await lockDirectory(folder, quick)
  expect(JSON.parse(readFileSync(file, "utf8")).id).not.toBe("other")
})

test("a holder whose directory was taken reports it, and leaves the other's lock alone", async () => {
  const folder = newFolder()
  const file = join(folder, "lock")
  // A second application of this process uses the directory too.
  const lost = [0, 1].map(
    () => new Promise<void>((resolve) => void lockDirectory(folder, { ...quick, lost: resolve })),
  )
  await vi.waitUntil(() => existsSync(file))
  writeFileSync(file, foreign(7))
  await Promise.all(lost)
  expect(readFileSync(file, "utf8")).toBe(foreign(7))
})

test("an application whose directory is in use refuses files and batches with 503", async () => {
  const folder = newFolder()
  const file = join(folder, "lock")
  let beat = 0
  writeFileSync(file, foreign(beat))
  const timer = setInterval(() => writeFileSync(file, foreign(++beat)), 5)
  const limits = { ...defaultBodyLimits }
  const opened = openBatches({
    ...{ store: folder, apiKeys: [], answer: () => new Response(), width: 1, model: "m" },
    ...{ bodyLimits: limits, held: new HeldBytes(limits) },
  })
  await expect(opened).rejects.toMatchObject({ code: "overloaded" })
  clearInterval(timer)
})

test.skipIf(process.platform === "win32")(
  "a holder that cannot read its lock for a while keeps it",
  async () => {
    const folder = newFolder()
    const file = join(folder, "lock")
    let isLost = false
    const lost = () => {
      isLost = true
    }
    await lockDirectory(folder, { ...quick, lost })
    const own = readFileSync(file, "utf8")
    // A link to itself cannot be opened.
    symlinkSync("lock", `${file}.new`)
    renameSync(`${file}.new`, file)
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(isLost).toBe(false)
    writeFileSync(`${file}.new`, own)
    renameSync(`${file}.new`, file)
    await vi.waitUntil(() => readFileSync(file, "utf8") !== own)
    expect(isLost).toBe(false)
    rmSync(file)
    await vi.waitUntil(() => isLost)
  },
)

test.runIf(process.platform === "linux")(
  "a live holder that knows the directory by another name keeps it",
  async () => {
    const [folder, other] = [newFolder(), newFolder()]
    await lockDirectory(other, quick)
    const { machine } = JSON.parse(readFileSync(join(other, "lock"), "utf8"))
    let beat = 0
    const file = join(folder, "lock")
    writeFileSync(file, JSON.stringify({ id: "other", machine, beat }))
    const write = () => {
      const holder = JSON.parse(readFileSync(file, "utf8"))
      if (holder.id === "other") writeFileSync(file, JSON.stringify({ ...holder, beat: ++beat }))
    }
    const timer = setInterval(write, 5)
    const locked = lockDirectory(folder, quick).finally(() => clearInterval(timer))
    await expect(locked).rejects.toThrow("another server uses it")
  },
)
