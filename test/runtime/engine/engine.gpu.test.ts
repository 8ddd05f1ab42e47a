/** Model and sampler on a GPU, hardware or software: the same answers as on the CPU. */

import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { GenerateOptions } from "../../../runtime/index.ts"
import { open } from "../../../runtime/open.ts"
import { writeTinyModel } from "../../support/onnx.ts"

const adapter = process.env.TOKENRAIL_TEST_ADAPTER

test.skipIf(!adapter)(
  "device gpu gives the tokens of device cpu, with and without a constraint",
  async () => {
    const model = writeTinyModel(mkdtempSync(join(tmpdir(), "tiny-")))
    const requests: [prompt: string, options: GenerateOptions][] = [
      ["hello", { temperature: 0, maxTokens: 8, ignoreEos: true }],
      ["again, and longer", { temperature: 1, seed: 3n, maxTokens: 8, ignoreEos: true }],
      ["?", { choice: ["red", "green", "blue"], seed: 4n }],
      [
        "?",
        {
          schema: { type: "array", items: { type: "integer", maximum: 9 }, maxItems: 2 },
          seed: 5n,
          maxTokens: 12,
        },
      ],
    ]
    const answers: string[][] = []
    for (const device of ["cpu", "gpu"] as const) {
      const lines: string[] = []
      const engine = await open({ model, device, slots: 2, log: (line) => lines.push(line) })
      expect(lines[0]).toContain(device === "gpu" ? "onnxruntime-node/webgpu" : "onnxruntime-node/cpu")
      const generations = await Promise.all(
        requests.map(([prompt, options]) => engine.start(prompt, options)),
      )
      const results = await Promise.all(generations.map((generation) => generation.result))
      answers.push(results.map(({ choices: [{ tokens, message }] }) => message ?? tokens.join(" ")))
      await engine.close()
    }
    expect(answers[1]).toEqual(answers[0])
  },
)
