/**
 * How constrained texts may be spelt: the words of each policy, the same in programs, requests and
 * on the command line.
 *
 * A policy narrows spellings, never values. Some words have older ones, which are still accepted.
 */
import { checkWord } from "./options.ts"

interface PolicyWords {
  readonly words: readonly string[]
  /** Older word → word. */
  readonly older: Readonly<Record<string, string>>
}

export const policyWords = {
  order: { words: ["schema", "any"], older: {} },
  whitespace: {
    words: ["bounded", "none", "spaced", "any"],
    older: { flexible: "bounded", compact: "none", tight: "spaced" },
  },
  escapes: { words: ["canonical", "json"], older: { minimal: "canonical", all: "json" } },
  numbers: { words: ["plain", "json"], older: { all: "json" } },
  formats: { words: ["assert", "annotate", "vocabulary"], older: {} },
  openObjects: { words: ["declared", "always"], older: {} },
} as const satisfies Readonly<Record<string, PolicyWords>>

export type PolicyName = keyof typeof policyWords

/** Returns whether a policy has this name. */
export function isPolicyName(name: string): name is PolicyName {
  return Object.hasOwn(policyWords, name)
}

type Words<Name extends PolicyName> = (typeof policyWords)[Name]["words"][number]
type OlderWords<Name extends PolicyName> = keyof (typeof policyWords)[Name]["older"]

/** The word of a policy, or an older word for it. */
export type PolicyWord<Name extends PolicyName> = Words<Name> | OlderWords<Name>

/**
 * Returns the word that `value` is or stands for; undefined for null and undefined. Throws
 * OptionError.
 */
export function policyWord<Name extends PolicyName>(name: Name, value: unknown): Words<Name> | undefined {
  if (value === undefined || value === null) return undefined
  const { words, older }: PolicyWords = policyWords[name]
  if (typeof value === "string" && Object.hasOwn(older, value)) return older[value] as Words<Name>
  checkWord(name, value, words)
  return value as Words<Name>
}
