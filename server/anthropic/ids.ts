/**
 * Ids of calls: Anthropic's clients see `toolu_…`, the model's chat template sees what the model's
 * own style wants.
 *
 * Some templates accept only ids of one form, and refer to a call by its id. So the prefix is added
 * to an id in a reply and removed when the call comes back; the rest stays as the engine made it.
 */

const prefix = "toolu_"

/** The id of a call as a reply has it. */
export function wireId(id: string): string {
  return `${prefix}${id.replace(/^call_/, "")}`
}

/** The id of a call as the chat template has it. */
export function templateId(id: string): string {
  return id.startsWith(prefix) ? id.slice(prefix.length) : id
}
