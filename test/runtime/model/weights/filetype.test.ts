/** Names of quantizations: stated by the file, counted, or read from the name of a graph. */
import { expect, test } from "vitest"
import { fileTypeOf, fileTypeOfGraph } from "../../../../runtime/model/weights/filetype.ts"

function weightsOf(...all: [type: string, shape: number[]][]) {
  return { tensors: new Map(all.map(([type, shape], at) => [`${at}`, { name: `${at}`, type, shape }])) }
}

test("the file's own word decides, then the type of most values", () => {
  const mixed = weightsOf(["F32", [10]], ["Q4_K", [4, 256]], ["Q6_K", [2, 256]])
  expect(fileTypeOf(mixed, 15)).toBe("Q4_K_M")
  expect(fileTypeOf(mixed, 0)).toBe("F32")
  for (const stated of [undefined, 4, 1_000, -1, "15", 15n]) expect(fileTypeOf(mixed, stated)).toBe("Q4_K")
  expect(fileTypeOf(weightsOf())).toBe("unknown")
})

test.each([
  ["onnx/model_q4f16.onnx", "Q4F16"],
  ["onnx/decoder_model_merged_fp16.onnx", "F16"],
  ["model_fp32.onnx", "F32"],
  ["model_int8.onnx", "INT8"],
  ["onnx/model.onnx", "unknown"],
  ["onnx/decoder_model_merged.onnx", "unknown"],
])("%s: %s", (file, type) => expect(fileTypeOfGraph(file)).toBe(type))
