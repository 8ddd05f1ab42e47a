/**
 * Hashes of masks along seeded walks: equal hashes mean equal masks. Every runtime runs this file,
 * over the same schemas.
 */
import type { Compiled, CompileOptions, GrammarInput } from "../../grammar/index.ts"
import type { Matcher, TokenFsm, Vocabulary } from "../../mask/index.ts"

/** What is compared: the classes and the compiler of one build. */
export interface Build<Input = { kind: "json"; schema: unknown }> {
  compile(input: Input, options?: CompileOptions): Compiled
  Matcher: typeof Matcher
  TokenFsm: typeof TokenFsm
  Vocabulary: typeof Vocabulary
}

const pieces = [
  "true",
  "false",
  "null",
  '":',
  '",',
  '{"',
  "[]",
  "{}",
  "1.",
  "12",
  "-1",
  "e+",
  "ab",
  "foo",
  "bar",
  '"a"',
  "  ",
]

/** All bytes, some longer pieces, and an end. */
function vocabularyOf({ Vocabulary }: Pick<Build, "Vocabulary">): Vocabulary {
  const bytes = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte))
  const longer = pieces.map((text) => new TextEncoder().encode(text))
  const tokens = [...bytes, ...longer]
  return Vocabulary.fromBytes([...tokens, null], { endIds: [tokens.length] })
}

/** For each schema: FNV-1a over the words of its masks, or the text of its refusal. */
export function walkHashes(build: Build, schemas: readonly unknown[]): (number | string)[] {
  return inputHashes(
    build,
    schemas.map((schema) => ({ kind: "json", schema })),
  )
}

/** For each input: the same. */
export function inputHashes<Input extends GrammarInput>(
  build: Build<Input>,
  inputs: readonly Input[],
): (number | string)[] {
  const vocabulary = vocabularyOf(build)
  const row = new Uint32Array(vocabulary.words)
  return inputs.map((input, index) => {
    try {
      const { grammar } = build.compile(input)
      const fsm = new build.TokenFsm(grammar, vocabulary)
      let hash = 0x811c9dc5
      for (let walk = 0; walk < 3; walk++) {
        let seed = 1 + 3 * index + walk
        const matcher = new build.Matcher(fsm)
        for (let step = 0; step < 12 && !matcher.isTerminated(); step++) {
          matcher.fillMask(row)
          for (const word of row) hash = Math.imul(hash ^ word, 0x01000193)
          const allowed = [...row.keys()].flatMap((word) =>
            Array.from({ length: 32 }, (_, bit) => 32 * word + bit).filter(
              (token) => row[word] & (1 << (token & 31)),
            ),
          )
          seed = Math.imul(seed, 48271) % 0x7fffffff
          matcher.accept(allowed[Math.abs(seed >> 4) % allowed.length])
        }
      }
      return hash
    } catch (error) {
      return `${error}`
    }
  })
}
