/** A text that a drawn control token may complete: it writes no byte, so its verdict has to be waited for. */
import { expect, test } from "vitest"
import { open } from "../../../runtime/open.ts"

/** The id of `<|im_start|>`. */
const control = 1

test.each(["thread", "none"] as const)("with walks in %s", async (isolation) => {
  const engine = await open({ device: "cpu", threads: 1, isolation })
  try {
    const answer = await engine.generate("Write.", {
      constraint: { kind: "lark", text: 'start: "ab" (<|im_start|> | "x")\n' },
      logitBias: { [control]: 100 },
      maxTokens: 20,
    })
    expect([answer.text, answer.finishReason, answer.tokens.at(-1)]).toEqual(["ab", "stop", control])
  } finally {
    await engine.close()
  }
})
