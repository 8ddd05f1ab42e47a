import { expect, test } from "vitest"
import { sectionBehind } from "../../../runtime/turn/section.ts"

const tags = { begin: "<think>", end: "</think>", suffix: "\n\n" }
const free = { isOff: false, maxTokens: null }
const off = { isOff: true, maxTokens: null }

test.each([
  ["left to the model", "<|im_start|>assistant\n", free, { ...tags, optional: true }],
  [
    "left to the model, bounded",
    "assistant\n",
    { isOff: false, maxTokens: 9 },
    { ...tags, optional: true, max_tokens: 9 },
  ],
  ["off by effort", "assistant\n", off, null],
  ["begun by the prompt", "assistant\n<think>\n", free, { end: "</think>", suffix: "\n\n" }],
  [
    "begun by the prompt though it should be off: it has to end",
    "assistant\n<think>",
    off,
    { end: "</think>", suffix: "\n\n" },
  ],
  [
    "begun, bounded",
    "<think>",
    { isOff: false, maxTokens: 0 },
    { end: "</think>", suffix: "\n\n", max_tokens: 0 },
  ],
  ["closed by the prompt", "assistant\n<think>\n\n</think>\n\n", free, null],
])("%s", (_, tail, options, section) => {
  expect(sectionBehind(tags, tail, options)).toEqual(section)
})
