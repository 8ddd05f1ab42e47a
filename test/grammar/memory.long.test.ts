import { execFileSync } from "node:child_process"
import { expect, test } from "vitest"

test.each(["numbers", "words", "objects", "tools", "patterns"])(
  "distinct constraints that are dropped leave nothing: %s",
  { timeout: 600_000 },
  (kind) => {
    // With so low a bound each third is long enough for new worlds.
    const printed = execFileSync(process.execPath, [
      "--expose-gc",
      "test/support/memory.js",
      kind,
      "1500",
      "2",
    ])
    const { first, last } = JSON.parse(String(printed)) as { first: number; last: number }
    expect(last / first).toBeLessThan(1.05)
  },
)
