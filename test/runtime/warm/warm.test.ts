/** A warm vocabulary has the common masks. */
import { expect, test } from "vitest"
import { compile } from "../../../grammar/index.ts"
import { TokenFsm } from "../../../mask/fsm.ts"
import { Matcher, Vocabulary } from "../../../mask/index.ts"
import { sharedLocals } from "../../../mask/local.ts"
import { sampleRounds } from "../../../runtime/warm/samples.ts"
import { warmUp } from "../../../runtime/warm/warm.ts"

const encoder = new TextEncoder()
const tokens: (Uint8Array | null)[] = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte))
for (const piece of ['{"', '": ', '", "', "name", "value", "true", "example", ".com", " text"])
  tokens.push(encoder.encode(piece))
tokens.push(null)

test("a vocabulary that is warm walks less for an object with names of its own", () => {
  const fresh = () => Vocabulary.fromBytes(tokens, { endIds: [tokens.length - 1] })
  const warm = fresh()
  let steps = 0
  for (const _ of warmUp(warm, 1)) steps++
  // A sample is compiled several times, and a text has further steps by its length.
  const [first] = sampleRounds()
  const least = first.map(({ input, texts }) => (input.kind === "json" ? 7 : 1) + texts.length)
  expect(steps).toBeGreaterThan(least.reduce((sum, count) => sum + count, 0))
  const schema = { type: "object", properties: { [`new${steps}`]: { type: "string" } } }
  const { grammar } = compile({ kind: "json", schema })
  const walks = (vocabulary: Vocabulary) => {
    const before = sharedLocals(vocabulary).walkCount
    const matcher = new Matcher(new TokenFsm(grammar, vocabulary))
    const row = new Uint32Array(vocabulary.words)
    for (const byte of encoder.encode(`{"new${steps}":"text`)) {
      matcher.fillMask(row)
      expect(matcher.accept(byte)).toBe(true)
    }
    return sharedLocals(vocabulary).walkCount - before
  }
  expect(walks(warm)).toBeLessThan(walks(fresh()))
})
