/**
 * What a visitor of the page sets: a constraint, the conversation, options, and a text to check.
 * The whole of it fits into the fragment of an address, so that a find can be shared; an API key is
 * never part of it.
 */

export const kinds = ["json", "regex", "gbnf", "lark", "tag", "choice", "tools", "none"] as const
export type Kind = (typeof kinds)[number]

export const kindNames: Readonly<Record<Kind, string>> = {
  ...{ json: "JSON Schema", regex: "Regex", gbnf: "GBNF", lark: "Lark", tag: "Structural tag" },
  ...{ choice: "Choices", tools: "Tools", none: "None" },
}

/** What the editor of a kind holds, in one sentence. */
export const kindHelp: Readonly<Record<Kind, string>> = {
  json: "A JSON Schema of any draft from 4 to 2020-12.",
  regex: "A regular expression in ECMAScript's syntax. The whole text must match.",
  gbnf: "A grammar in llama.cpp's GBNF. It begins with the rule root.",
  lark: "A grammar in llguidance's dialect of Lark. It begins with the rule start.",
  tag: "A structural tag: free text, and the constraints that it switches to.",
  choice: "One text per line. The answer is one of them.",
  tools: "A list of tools, as in a chat request. Their arguments follow their schemas.",
  none: "No constraint: the model may write anything.",
}

/** Whether the text of a kind is JSON. */
export function isJsonKind(kind: Kind): boolean {
  return kind === "json" || kind === "tag" || kind === "tools"
}

export interface Message {
  role: "system" | "user" | "assistant"
  content: string
}

export interface Options {
  temperature: number
  maxTokens: number
  /** Empty: drawn by the server. */
  seed: string
  whitespace: "bounded" | "none" | "spaced" | "any"
  order: "schema" | "any"
  onLength: "truncate" | "close"
  schemaInPrompt: boolean
  toolChoice: "auto" | "required" | "none"
}

export interface Setup {
  kind: Kind
  text: string
  messages: Message[]
  options: Options
  check: string
}

export const defaultOptions: Options = {
  ...{ temperature: 1, maxTokens: 256, seed: "1", whitespace: "bounded", order: "schema" },
  ...{ onLength: "truncate", schemaInPrompt: false, toolChoice: "required" },
}

/** Returns the fragment of an address that holds the setup. */
export function toFragment({ kind, text, messages, options, check }: Setup): string {
  const changed = Object.entries(options).filter(
    ([name, value]) => value !== defaultOptions[name as keyof Options],
  )
  const plain = { k: kind, t: text, m: messages, o: Object.fromEntries(changed), c: check }
  const bytes = new TextEncoder().encode(JSON.stringify(plain))
  let binary = ""
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return `#s=${btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`
}

/** Returns the setup of a fragment; null if it has none that can be read. */
export function fromFragment(fragment: string): Setup | null {
  const [, coded] = /^#s=([\w-]+)$/.exec(fragment) ?? []
  if (coded === undefined) return null
  try {
    const binary = atob(coded.replaceAll("-", "+").replaceAll("_", "/"))
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0))
    return checked(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)))
  } catch {
    return null
  }
}

/** Returns the setup of a value from outside, with defaults in place of what is wrong. */
function checked(value: unknown): Setup | null {
  if (typeof value !== "object" || value === null) return null
  const { k, t, m, o, c } = value as Record<string, unknown>
  const kind = kinds.find((each) => each === k)
  if (kind === undefined || typeof t !== "string") return null
  const messages = (Array.isArray(m) ? m : []).flatMap((each): Message[] => {
    const { role, content } = (each ?? {}) as Record<string, unknown>
    const isRole = role === "system" || role === "user" || role === "assistant"
    return isRole && typeof content === "string" ? [{ role, content }] : []
  })
  const given = typeof o === "object" && o !== null ? (o as Record<string, unknown>) : {}
  const options = Object.fromEntries(
    Object.entries(defaultOptions).map(([name, standard]) => {
      const isSame = typeof given[name] === typeof standard && isListed(name, given[name])
      return [name, isSame ? given[name] : standard]
    }),
  ) as unknown as Options
  const conversation = messages.length > 0 ? messages : [{ role: "user" as const, content: "" }]
  return { kind, text: t, messages: conversation, options, check: typeof c === "string" ? c : "" }
}

/** The values of the options that have a list of them. */
export const optionWords: {
  readonly [Name in "whitespace" | "order" | "onLength" | "toolChoice"]: readonly Options[Name][]
} = {
  whitespace: ["bounded", "none", "spaced", "any"],
  order: ["schema", "any"],
  onLength: ["truncate", "close"],
  toolChoice: ["auto", "required", "none"],
}

function isListed(name: string, value: unknown): boolean {
  const words: readonly unknown[] | undefined = optionWords[name as keyof typeof optionWords]
  return words === undefined || words.includes(value)
}
