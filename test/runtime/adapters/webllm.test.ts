/** The processor for WebLLM in a loop like its own, against the plain matcher. */
import { expect, test } from "vitest"
import { bindGrammar, isAllowed, Matcher } from "../../../mask/index.ts"
import { webllmProcessor } from "../../../runtime/adapters/webllm.ts"
import { lawGrammars, lawVocabulary, rowOf } from "../../support/lawgrammars.ts"
import { randomOf } from "../../support/oracle.ts"

const { width } = lawVocabulary

test.each(lawGrammars.map(([name, grammar]) => [name, bindGrammar(grammar, lawVocabulary)] as const))(
  "%s: text after text, some of them cut off",
  (_, machine) => {
    const random = randomOf(3)
    const processor = webllmProcessor(machine)
    let matcher = new Matcher(machine)
    for (let step = 0; step < 200; step++) {
      const before = Float32Array.from({ length: width }, () => random() - 0.5)
      const logits = before.slice()
      expect(processor.processLogits(logits)).toBe(logits)
      const mask = Uint32Array.from(rowOf(matcher).row)
      expect([...logits]).toEqual(
        [...before].map((value, token) => (isAllowed(mask, token) ? value : -Infinity)),
      )
      const allowed = [...logits.keys()].filter((token) => isAllowed(mask, token))
      const token = allowed[Math.floor(random() * allowed.length)]
      processor.processSampledToken(token)
      matcher.accept(token)
      const isCutOff = random() < 0.02
      if (isCutOff) processor.resetState()
      if (isCutOff || matcher.isTerminated()) matcher = new Matcher(machine)
    }
  },
)

test("wrong uses are refused", () => {
  const processor = webllmProcessor(bindGrammar(lawGrammars[5][1], lawVocabulary))
  expect(() => processor.processLogits(new Float32Array(60))).toThrow(
    "the vocabulary of the masks is 61 wide",
  )
  expect(() => processor.processSampledToken(9)).toThrow(
    'row 0, token 0 of its text: token 9 ("0") is not allowed there',
  )
})
