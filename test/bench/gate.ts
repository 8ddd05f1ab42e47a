/**
 * Whether this build is slower than another one: both run in one process and in turns, so that a
 * slow machine slows both. The work is that of the samples for warming up over the embedded model's
 * vocabulary: schema text to first mask, fill and accept of each token; and rows of the CPU's
 * sampler. Prints a ratio each, of the least times in all rounds.
 *
 * Usage: `node dist/test/bench/gate.js --before DIR [--rounds 40] [--slack 1.1]`, or `.ci/speed
 * [COMMIT]`, which builds the commit first. DIR is a checkout with its dist. Exit 1 if a ratio is
 * above the slack.
 */
import { readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { parseArgs } from "node:util"
import type * as Grammars from "../../grammar/index.ts"
import type * as Masks from "../../mask/index.ts"
import { packageFile } from "../../runtime/files.ts"
import { type Sample, sampleRounds } from "../../runtime/warm/samples.ts"
import type * as Samplers from "../../sampler/index.ts"
import { readTokenizer } from "../../server/cli/vocabulary.ts"
import { normalOf, randomOf } from "../support/sampler/rows.ts"

const { values: flags } = parseArgs({
  options: {
    before: { type: "string" },
    rounds: { type: "string", default: "40" },
    slack: { type: "string", default: "1.1" },
  },
})
if (flags.before === undefined) throw new Error("--before names a checkout with its dist")

const [first] = sampleRounds()
const folder = packageFile("runtime/embedded")
const [tokenizerJson, tokenizerConfig] = ["tokenizer.json", "tokenizer_config.json"].map((name) =>
  JSON.parse(readFileSync(join(folder, name), "utf8")),
)
const tokenizer = await readTokenizer(folder)
const { endIds } = tokenizer.vocabulary
const normal = normalOf(randomOf(1))
const logits = Float32Array.from({ length: 32_768 }, () => 3 * normal())

const sampling = [{ topP: 0.9 }, { topK: 40, temperature: 0.7 }, { minP: 0.05, repetitionPenalty: 1.1 }]

/** One build with its own copy of every module. */
class Build {
  readonly compile: typeof Grammars.compile
  private readonly masks: typeof Masks
  private readonly vocabulary: Masks.Vocabulary
  private readonly sampler: Samplers.Sampler
  private readonly rows: readonly Samplers.SampleRow[]
  private readonly row: Uint32Array

  constructor(grammars: typeof Grammars, masks: typeof Masks, samplers: typeof Samplers) {
    this.compile = grammars.compile
    this.masks = masks
    this.sampler = samplers.createCpuSampler()
    this.rows = sampling.map((options, position) => ({
      params: samplers.resolveParams(options, { width: logits.length }),
      tokens: new samplers.TokenCounts([1, 2, 3]),
      ...{ logitsRow: 0, mask: null, position, choice: 0 },
    }))
    this.vocabulary = masks.parseVocabulary(tokenizerJson, tokenizerConfig, { endIds })
    this.row = new Uint32Array(this.vocabulary.words)
  }

  static async load(folder: string): Promise<Build> {
    const floor = (name: string) => import(pathToFileURL(resolve(folder, `dist/${name}/index.js`)).href)
    return new Build(await floor("grammar"), await floor("mask"), await floor("sampler"))
  }

  /** A matcher at the start of a sample, whose first mask is filled. */
  start({ input }: Sample): Masks.Matcher {
    const { grammar } =
      input.kind === "json"
        ? this.compile({ kind: "json", schema: JSON.stringify(input.schema) }, { surface: "conform" })
        : this.compile(input, { tokens: this.vocabulary })
    const matcher = new this.masks.Matcher(new this.masks.TokenFsm(grammar, this.vocabulary))
    matcher.fillMask(this.row)
    return matcher
  }

  /** Fills the mask before each token, and accepts it. */
  write(matcher: Masks.Matcher, tokens: readonly number[]): void {
    for (const token of tokens) {
      matcher.fillMask(this.row)
      matcher.accept(token)
    }
    matcher.rollback(matcher.length)
  }

  async draw(): Promise<void> {
    for (const row of this.rows) await this.sampler.sample(logits, logits.length, [row])
  }
}

const builds = [await Build.load(flags.before), await Build.load(".")]
const texts = first.map((sample) => sample.texts.map((text) => [...tokenizer.encode(text)]))

const parts = ["first mask", "token", "sampler"]
/** Least milliseconds of each sample so far. What else the machine does only adds to them. */
const least = parts.map(() => builds.map(() => new Float64Array(first.length).fill(Infinity)))

for (let turn = 0; turn < Number(flags.rounds); turn++) {
  for (const [at, sample] of first.entries()) {
    // The builds take turns sample by sample, and who begins changes.
    for (const which of (at + turn) % 2 === 0 ? [0, 1] : [1, 0]) {
      const build = builds[which]
      const times = [performance.now()]
      const matcher = build.start(sample)
      times.push(performance.now())
      for (const tokens of texts[at]) build.write(matcher, tokens)
      times.push(performance.now())
      await build.draw()
      times.push(performance.now())
      for (const [part, all] of least.entries())
        all[which][at] = Math.min(all[which][at], times[part + 1] - times[part])
    }
  }
}
for (const [part, all] of least.entries()) {
  const [before, after] = all.map((ms) => ms.reduce((sum, each) => sum + each, 0))
  const ratio = after / before
  const isSlow = ratio > Number(flags.slack)
  const end = isSlow ? `, above ${flags.slack}` : ""
  console.log(`${parts[part]}: ${after.toFixed(1)} ms, ${ratio.toFixed(3)} of the time before${end}`)
  if (isSlow) process.exitCode = 1
}
