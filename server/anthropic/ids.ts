/**
 * Ids of calls: Anthropic's clients see `toolu_…`, while the model's chat template sees the form
 * that it requires.
 *
 * Some templates accept only ids of one form, and refer to a call by its id. So the prefix is added
 * to an id in a reply and removed when the call comes back; the rest is the engine's id.
 */

const prefix = "toolu_"

/** Returns the id of a call for a reply. */
export function wireId(id: string): string {
  return `${prefix}${id.replace(/^call_/, "")}`
}

/** Returns the id of a call for the chat template. */
export function templateId(id: string): string {
  return id.startsWith(prefix) ? id.slice(prefix.length) : id
}
