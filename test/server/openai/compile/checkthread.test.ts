import { expect, test } from "vitest"
import type { CheckQuestion } from "../../../../server/openai/compile/checktexts.ts"
import { checkApart, maxChecks } from "../../../../server/openai/compile/checkthread.ts"

test("a check whose thread cannot be made gives its place back", async () => {
  const unsendable = { texts: () => [] } as unknown as CheckQuestion
  for (let count = 0; count <= maxChecks; count++) {
    const asked = checkApart(unsendable, new AbortController().signal)
    await expect(asked).rejects.toThrow(expect.objectContaining({ name: "DataCloneError" }))
  }
})
