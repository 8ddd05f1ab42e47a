/** GGUF files by their labels. */
import { expect, test } from "vitest"
import { ModelError } from "../../../../runtime/index.ts"
import { chooseGguf, ggufModels, labelOf, partsOf, stemOf } from "../../../../runtime/model/hub/label.ts"

const usual = [
  ...["tiny-IQ4_XS.gguf", "tiny-Q4_0.gguf", "tiny-Q4_0_4_4.gguf", "tiny-Q4_K_M.gguf", "tiny-Q4_K_S.gguf"],
  ...["tiny-Q8_0.gguf", "tiny-f16.gguf", "tiny-bf16.gguf", "mmproj-tiny-f16.gguf", "tiny.imatrix.gguf"],
  ...["README.md", "Q2_K_L/tiny-00001-of-00002.gguf", "Q2_K_L/tiny-00002-of-00002.gguf"],
]
const chosen = (paths: string[], label?: string) => chooseGguf("acme/tiny", ggufModels(paths), label).first

test("parts are one model, and what lies beside models is none", () => {
  expect(ggufModels(usual).map(({ first, parts }) => [first, parts.length])).toEqual([
    ["Q2_K_L/tiny-00001-of-00002.gguf", 2],
    ...["IQ4_XS", "Q4_0", "Q4_0_4_4", "Q4_K_M", "Q4_K_S", "Q8_0", "bf16", "f16"].map((label) => [
      `tiny-${label}.gguf`,
      1,
    ]),
  ])
})

test.each([
  ["Q4_K_M", "tiny-Q4_K_M.gguf"],
  ["q4_k_m", "tiny-Q4_K_M.gguf"],
  ["Q4_0", "tiny-Q4_0.gguf"],
  ["F16", "tiny-f16.gguf"],
  ["BF16", "tiny-bf16.gguf"],
  ["q2_k_l", "Q2_K_L/tiny-00001-of-00002.gguf"],
  ["tiny-Q8_0", "tiny-Q8_0.gguf"],
  ["TINY-q8_0.gguf", "tiny-Q8_0.gguf"],
  ["Q2_K_L/tiny-00002-of-00002.gguf", "Q2_K_L/tiny-00001-of-00002.gguf"],
])("the label %s is %s", (label, first) => {
  expect(chosen(usual, label)).toBe(first)
})

test("without a label it is Q4_K_M, else Q4_0, else Q8_0, else the only one", () => {
  expect(chosen(usual)).toBe("tiny-Q4_K_M.gguf")
  expect(chosen(["x-Q4_0.gguf", "x-Q8_0.gguf", "x-Q6_K.gguf"])).toBe("x-Q4_0.gguf")
  expect(chosen(["x-Q8_0.gguf", "x-Q6_K.gguf"])).toBe("x-Q8_0.gguf")
  expect(chosen(["x-Q6_K.gguf"])).toBe("x-Q6_K.gguf")
})

test("several or none are listed by labels that name them", () => {
  const refusal = (paths: string[], label?: string) => {
    try {
      return chosen(paths, label)
    } catch (error) {
      expect(error).toBeInstanceOf(ModelError)
      return (error as Error).message
    }
  }
  expect(refusal(["x-Q5_0.gguf", "x-Q6_K.gguf"])).toBe(
    "acme/tiny: there are 2 GGUF models and none is Q4_K_M, Q4_0, Q8_0 alone. Name one by its label after a colon, or by its path: Q5_0, Q6_K",
  )
  expect(refusal(usual, "Q3_K")).toMatch(
    /^acme\/tiny: no GGUF model has Q3_K in its name\. Name one by .*: Q2_K_L, IQ4_XS, Q4_0, Q4_0_4_4, Q4_K_M, /,
  )
  expect(refusal(["a-Q4_0.gguf", "b-Q4_0.gguf"], "q4_0")).toBe(
    "acme/tiny: 2 GGUF models have q4_0 in their names. Name one by its label after a colon, or by its path: a-Q4_0, b-Q4_0",
  )
  expect(refusal(["README.md"], "Q4_0")).toBe("acme/tiny: there is no GGUF model in it. Choose another one")
  expect(refusal(["x-00001-of-00003.gguf", "x-00003-of-00003.gguf"])).toBe(
    "acme/tiny: only 2 of 3 parts of x exist. Add the other parts",
  )
  expect(refusal(["x-Q4_0.gguf"], "(a+)+$")).toMatch(/no GGUF model has \(a\+\)\+\$ in its name/)
})

test("every model is named by the label that is shown for it", () => {
  const paths = [...usual, "tiny-UD-Q4_K_XL.gguf", "other.Q6_K.gguf", "sub/other.Q6_K.gguf"]
  const models = ggufModels(paths)
  for (const model of models) {
    const found = chooseGguf("x", models, labelOf(model, models))
    expect([found.first, labelOf(model, models)]).toEqual([model.first, labelOf(model, models)])
  }
})

test("the parts of a split file, whichever is named", () => {
  const parts = ["/m/x-00001-of-00003.gguf", "/m/x-00002-of-00003.gguf", "/m/x-00003-of-00003.gguf"]
  for (const part of parts) expect(partsOf(part)).toEqual(parts)
  expect(partsOf("/m/x.gguf")).toEqual(["/m/x.gguf"])
  expect(stemOf(parts[1])).toBe("x")
})
