import { createHash } from "node:crypto"
import { expect, test } from "vitest"
import { sha256 } from "../../mask/sha256.ts"
import { randomOf } from "../support/oracle.ts"

test("digests are the host's, at every length around the blocks and of a view", () => {
  const random = randomOf(1)
  for (const length of [0, 1, 31, 55, 56, 57, 63, 64, 65, 119, 120, 128, 1_000, 100_003]) {
    const bytes = Uint8Array.from({ length: length + 3 }, () => 256 * random()).subarray(3)
    expect([length, sha256(bytes)]).toEqual([length, createHash("sha256").update(bytes).digest("hex")])
  }
})
