/** Signals at every moment, round by round: no exit code but those that are promised. */
import { once } from "node:events"
import { setTimeout } from "node:timers/promises"
import { expect, test } from "vitest"
import { start } from "../../support/program.ts"
import { busy, signalled } from "../../support/served.ts"

test.each([
  ["SIGTERM", 143],
  ["SIGINT", 130],
] as const)(
  "a second %s in the middle of answers is %i at once",
  { timeout: 120_000 },
  async (signal, code) => {
    for (let round = 0; round < 4; round++) {
      const { child, texts } = await busy([], 4)
      await signalled(child, signal)
      await setTimeout(10 * round)
      const ended = once(child, "exit")
      child.kill(signal)
      expect(await ended).toEqual([code, null])
      expect((await Promise.all(texts)).every((text) => text.endsWith("(cut off)"))).toBe(true)
    }
  },
)

test("signals while the model loads end the program: one cleanly, two at once", {
  timeout: 120_000,
}, async () => {
  for (const waitMs of [300, 500, 700, 900]) {
    for (const count of [1, 2]) {
      const child = start(["serve", "--port", "0"])
      const ended = once(child, "exit")
      await setTimeout(waitMs)
      for (let i = 0; i < count; i++) {
        child.kill("SIGTERM")
        await setTimeout(20)
      }
      // Before the program listens to signals, and where the load takes longer than can be waited for, they end it themselves.
      expect([
        [0, null],
        [143, null],
        [null, "SIGTERM"],
      ]).toContainEqual(await ended)
    }
  }
})

test("a server goes on when nobody reads what it prints", { timeout: 120_000 }, async () => {
  const child = start(["serve", "--port", "0"])
  let url = ""
  for await (const chunk of child.stdout!) {
    url = /http:\S+/.exec(String(chunk))?.[0] ?? ""
    if (url !== "") break
  }
  // The loop has closed the pipe of standard output; that of standard error goes too.
  child.stderr!.destroy()
  for (let round = 0; round < 3; round++) {
    expect((await fetch(`${url}/v1/models`)).status).toBe(200)
    await setTimeout(50)
  }
  const ended = once(child, "exit")
  child.kill("SIGTERM")
  expect(await ended).toEqual([0, null])
})
