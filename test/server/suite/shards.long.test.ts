/** Jobs over child processes: `runShards` starts this process's program again, so here it starts a small one. */
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { runShards } from "../../../server/suite/shards.ts"

// Prints a line for each of its jobs; job 3 ends the process, job 5 hangs.
const program = `
const [first, step, count] = process.argv.slice(2).map(Number)
for (let job = first; job < count; job += step) {
  if (job === 3) process.exit(7)
  if (job === 5) { setInterval(() => {}, 1000); break }
  console.log("job " + job)
}
`
const [node, own] = process.argv
beforeAll(() => {
  const path = join(mkdtempSync(join(tmpdir(), "shards-")), "program.cjs")
  writeFileSync(path, program)
  process.argv[1] = path
})
afterAll(() => {
  process.argv[0] = node
  process.argv[1] = own
})

const run = (jobCount: number, shardCount: number) =>
  runShards({
    jobCount,
    shardCount,
    jobMs: 2_000,
    loadMs: 8_000,
    args: (first, step) => [first, step, jobCount].map(String),
  })

test.each([1, 2, 3])("%i processes give a line a job, in the order of jobs", async (shardCount) => {
  expect(await run(3, shardCount)).toEqual(["job 0", "job 1", "job 2"])
})

test("a job that ends its process or hangs is crashed, and the others go on", async () => {
  expect(await run(8, 2)).toEqual([
    "job 0",
    "job 1",
    "job 2",
    "crashed: exit 7",
    "job 4",
    expect.stringMatching(/^crashed: no result after \d+ ms$/),
    "job 6",
    "job 7",
  ])
}, 60_000)
