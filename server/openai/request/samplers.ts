/**
 * llama.cpp's `samplers`: the stages to run in this order, as names or as one letter each. A stage
 * that is not named is off, whatever the value of its own field.
 */
import { invalid, type Refusal } from "../../errors.ts"
import { quote } from "../../http/quote.ts"

/** Our stage, llama.cpp's names for it and its letter, and the values that turn it off. */
const stages: readonly (readonly [
  stage: string,
  names: readonly string[],
  letter: string,
  off: Readonly<Record<string, number | null>>,
])[] = [
  [
    "penalties",
    ["penalties"],
    "e",
    { repetition_penalty: 1, frequency_penalty: 0, presence_penalty: 0, penalty_window: null },
  ],
  ["dry", ["dry"], "d", { dry_multiplier: 0 }],
  ["top_n_sigma", ["top_n_sigma", "top-n-sigma"], "s", { top_n_sigma: 0 }],
  ["top_k", ["top_k", "top-k"], "k", { top_k: 0 }],
  [
    "typical_p",
    ["typ_p", "typical_p", "typical-p", "typical", "typ-p", "typ"],
    "y",
    { typical_p: 1, epsilon_cutoff: 0, eta_cutoff: 0 },
  ],
  ["top_p", ["top_p", "top-p", "nucleus"], "p", { top_p: 1 }],
  ["min_p", ["min_p", "min-p"], "m", { min_p: 0 }],
  ["xtc", ["xtc"], "x", { xtc_probability: 0 }],
  ["temperature", ["temperature", "temp"], "t", { temperature: 1, dynatemp_range: 0 }],
]

/** This stage draws, so it runs last wherever it is named. */
const last = { names: ["adaptive_p", "adaptive-p"], letter: "a", off: { adaptive_target: null } }

export function isSamplers(value: unknown): value is string | readonly string[] {
  return (
    typeof value === "string" || (Array.isArray(value) && value.every((each) => typeof each === "string"))
  )
}

/**
 * Returns a permutation of all stages that begins with the named ones, and the fields that turn the
 * others off. Throws `Refusal`.
 */
export function readSamplers(samplers: string | readonly string[]): {
  order: string[]
  off: Record<string, number | null>
} {
  const given = typeof samplers === "string" ? [...samplers].slice(0, 33) : samplers
  const order: string[] = []
  let isAdaptive = false
  for (const name of given) {
    if (typeof samplers === "string" ? name === last.letter : last.names.includes(name)) {
      isAdaptive = true
      continue
    }
    const found = stages.find(([, names, letter]) =>
      typeof samplers === "string" ? letter === name : names.includes(name),
    )
    if (!found) throw unknown(name, typeof samplers === "string")
    if (order.includes(found[0])) {
      throw invalid("samplers", `: ${quote(name)} is named twice`, "Name each stage once")
    }
    order.push(found[0])
  }
  const others = stages.filter(([stage]) => !order.includes(stage))
  return {
    order: [...order, ...others.map(([stage]) => stage)],
    off: Object.assign(isAdaptive ? {} : { ...last.off }, ...others.map(([, , , off]) => off)),
  }
}

function unknown(name: string, isLetter: boolean): Refusal {
  const names = stages.map(([, [first], letter]) => (isLetter ? letter : first))
  const known = [...names, isLetter ? last.letter : last.names[0]].join(", ")
  return invalid("samplers", `: ${quote(name)} is none of ${known}`, "Leave it out")
}
