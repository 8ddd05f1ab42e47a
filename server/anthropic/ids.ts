/**
 * Ids of calls: Anthropic's clients see `toolu_…`, the model's chat template sees what the model's
 * own style wants.
 *
 * Some templates take ids of one form only, and name a call by its id. So the wire's prefix is put
 * before an id and taken off again when the call comes back; the rest stays as the engine made it.
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
