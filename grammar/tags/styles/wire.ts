/**
 * Wire forms: how a model writes a call, as fixed text with slots in reading order.
 *
 * A wire form is data with three uses: a term of the grammar (`lower.ts`), a parser of a stream
 * (`read/`), and a readable notation, since it is written as a template: wire`<call>${name}:
 * ${json}</call>`.
 */

/** One piece of a wire form. */
export type Part =
  /** Exactly this text. Control tokens in it are read by their ids if there is a vocabulary. */
  | { readonly kind: "text"; readonly text: string }
  /** The name of the tool. */
  | { readonly kind: "name" }
  /** All arguments as one JSON object. */
  | { readonly kind: "json" }
  /** The arguments one by one, each in the form of the block's `parameter`. */
  | { readonly kind: "parameters" }
  /** In a parameter: its name, and its value. */
  | { readonly kind: "key" }
  | { readonly kind: "value" }
  /**
   * The number of the call. The first one of the turn or of the conversation has the number
   * `first`.
   */
  | { readonly kind: "index"; readonly first: number; readonly within: "turn" | "conversation" }
  /** This many letters and digits. */
  | { readonly kind: "letters"; readonly count: number }
  /** The text of `wire` is the id of the call. */
  | { readonly kind: "id"; readonly wire: Wire }
  /** `wire` or nothing. It begins with text. */
  | { readonly kind: "optional"; readonly wire: Wire }
  /** One of `wires`, which begin with different texts. */
  | { readonly kind: "either"; readonly wires: readonly Wire[] }

export type Wire = readonly Part[]

/** Makes a wire form from a template: its fixed text, and the parts in between. */
export function wire(texts: TemplateStringsArray, ...parts: readonly (Part | string)[]): Wire {
  const form: Part[] = []
  const add = (part: Part) => {
    const last = form[form.length - 1]
    if (part.kind === "text" && last?.kind === "text") {
      form[form.length - 1] = { kind: "text", text: last.text + part.text }
    } else if (part.kind !== "text" || part.text !== "") form.push(part)
  }
  for (const [i, text] of texts.entries()) {
    add({ kind: "text", text })
    if (i < parts.length) {
      const part = parts[i]
      add(typeof part === "string" ? { kind: "text", text: part } : part)
    }
  }
  return form
}

export const name: Part = { kind: "name" }
export const json: Part = { kind: "json" }
export const parameters: Part = { kind: "parameters" }
export const key: Part = { kind: "key" }
export const value: Part = { kind: "value" }

export function index(first: number, within: "turn" | "conversation" = "turn"): Part {
  return { kind: "index", first, within }
}

export function letters(count: number): Part {
  return { kind: "letters", count }
}

export function id(form: Wire): Part {
  return { kind: "id", wire: form }
}

export function optional(form: Wire | string): Part {
  return { kind: "optional", wire: typeof form === "string" ? [{ kind: "text", text: form }] : form }
}

export function either(...forms: readonly (Wire | string)[]): Part {
  return {
    kind: "either",
    wires: forms.map((form): Wire => (typeof form === "string" ? [{ kind: "text", text: form }] : form)),
  }
}

/** Returns whether the form has a part of this kind, at any depth. */
export function holds(form: Wire, kind: Part["kind"]): boolean {
  return form.some((part) => {
    if (part.kind === kind) return true
    if (part.kind === "optional" || part.kind === "id") return holds(part.wire, kind)
    return part.kind === "either" && part.wires.some((inner) => holds(inner, kind))
  })
}

/** Returns the number of letters and digits of the form's id; null if there is none. */
export function letterCount(form: Wire): number | null {
  for (const part of form) {
    if (part.kind === "letters") return part.count
    const inner =
      part.kind === "optional" || part.kind === "id" ? [part.wire] : part.kind === "either" ? part.wires : []
    const found = inner.map(letterCount).find((count) => count !== null)
    if (found !== undefined) return found
  }
  return null
}

/** Returns the texts with which the form can begin, up to its first slot. */
export function beginnings(form: Wire): string[] {
  const [first, ...rest] = form
  switch (first?.kind) {
    case "text":
      return beginnings(rest).map((text) => first.text + text)
    case "optional":
      return [...beginnings([...first.wire, ...rest]), ...beginnings(rest)]
    case "either":
      return first.wires.flatMap((inner) => beginnings([...inner, ...rest]))
    case "id":
      return beginnings([...first.wire, ...rest])
    default:
      return [""]
  }
}

/** Returns the form for a tool of this name. */
export function named(form: Wire, tool: string): Wire {
  return form.reduce<Part[]>((parts, part) => {
    const flat: readonly Part[] = part.kind === "id" ? named(part.wire, tool) : [part]
    for (const each of flat) {
      const next: Part = each.kind === "name" ? { kind: "text", text: tool } : each
      const last = parts[parts.length - 1]
      if (next.kind === "text" && last?.kind === "text") {
        parts[parts.length - 1] = { kind: "text", text: last.text + next.text }
      } else parts.push(next)
    }
    return parts
  }, [])
}

/**
 * Splits a parameter: what precedes its key, what separates key and value, and what follows the
 * value.
 */
export function splitParameter(form: Wire): { open: Wire; between: Wire; close: Wire } {
  const at = form.findIndex((part) => part.kind === "key")
  const end = form.findIndex((part) => part.kind === "value")
  if (at < 0 || end < at) throw new Error("internal: a parameter has a key, and a value behind it")
  return { open: form.slice(0, at), between: form.slice(at + 1, end), close: form.slice(end + 1) }
}

/** Returns the text with which a form begins. */
export function firstText([first]: Wire): string {
  if (first?.kind !== "text") throw new Error("internal: a form that has to begin with text")
  return first.text
}
