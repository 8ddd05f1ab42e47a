/** What most cases are judged by: a text, tool calls, or an error. */

import type { Reply } from "./case.ts"
import { type ApiCase, type Finding, finding, honoured, worst } from "./case.ts"
import { type Chat, type ChatChoice, fieldsOf, parsed, readChat, readStream } from "./chat.ts"
import type { Constraint } from "./constraint.ts"
import { messageOf } from "./run.ts"

type Judge = ApiCase["judge"]

/** Reads a reply as its request asks, whole or streamed. */
export function read(reply: Reply): Chat {
  return /"stream":true/.test(reply.sent) ? readStream(reply) : readChat(reply)
}

/** Returns the verdict `wrong` if there is a problem. */
export function malformed(problems: readonly string[]): Finding | null {
  return problems.length > 0 ? finding("wrong", problems.slice(0, 3).join("; ")) : null
}

/** Judges each choice of the last reply, whose form must be right. */
export function eachChoice(judge: (choice: ChatChoice) => Finding): Judge {
  return (replies) => {
    const chat = read(replies.at(-1)!)
    return malformed(chat.problems) ?? worst(chat.choices.map(judge))
  }
}

/** Every text satisfies the constraint. */
export function textObeys(constraint: Constraint): Judge {
  return eachChoice((choice) => textOf(choice, constraint))
}

export function textOf({ content, calls, finish }: ChatChoice, constraint: Constraint): Finding {
  if (calls.length > 0) return finding("ignored", `a call of ${calls[0].name} instead of the text`)
  if (finish === "content_filter") return finding("error", "the content filter ended the answer")
  return constraint.judge(content ?? "", finish === "length")
}

/** The reply has the right form, whatever it says. */
export const isAccepted: Judge = (replies) => malformed(read(replies.at(-1)!).problems) ?? honoured

export interface CallRule {
  /** The tools that may be called, with what judges their arguments. */
  readonly tools: Readonly<Record<string, Constraint>>
  readonly least: number
  readonly most?: number
  /** The permitted reasons of finishing, if there is a call. Default tool_calls. */
  readonly finishes?: readonly string[]
}

/** The calls are those that the rule permits. */
export function callsObey(rule: CallRule): Judge {
  return eachChoice((choice) => judgeCalls(choice, rule))
}

export function judgeCalls({ calls, content, finish }: ChatChoice, rule: CallRule): Finding {
  const isCut = finish === "length"
  const text = (content ?? "").slice(0, 60)
  if (calls.length < rule.least) {
    if (isCut && text === "")
      return finding("skipped", "the budget ended the answer before a call: raise --max-tokens")
    return finding("ignored", `${calls.length} calls, not ${rule.least}: the text is ${JSON.stringify(text)}`)
  }
  if (calls.length > (rule.most ?? Number.POSITIVE_INFINITY))
    return finding("ignored", `${calls.length} calls, but at most ${rule.most} are allowed`)
  const { finishes = ["tool_calls"] } = rule
  if (calls.length > 0 && !isCut && !finishes.includes(finish ?? ""))
    return finding("wrong", `finish_reason is ${finish}, not ${finishes.join(" or ")}`)
  const ids = calls.map(({ id }) => id)
  if (new Set(ids).size < ids.length) return finding("wrong", "two calls have the same id")
  const judged = calls.map(({ name, args, id, type }, at) => {
    if (id === "" || type !== "function")
      return finding("wrong", `call ${at + 1} has the id "${id}" and the type "${type}"`)
    if (!Object.hasOwn(rule.tools, name))
      return finding("ignored", `a call of ${name}, which may not be called`)
    const isLast = at === calls.length - 1
    if (!(isCut && isLast) && parsed(args) === undefined)
      return finding("wrong", `the arguments of ${name} are not JSON: ${JSON.stringify(args.slice(0, 60))}`)
    return rule.tools[name].judge(args, isCut && isLast)
  })
  return judged.length > 0 ? worst(judged) : honoured
}

/** The last request is refused by a status of 4xx and an error that says why. */
export const isRefused: Judge = (replies) => {
  const reply = replies.at(-1)!
  if (reply.status === 200) return finding("ignored", `accepted: ${excerptOf(reply)}`)
  return errorProblem(reply) ?? { ...honoured, why: `status ${reply.status}: ${messageOf(reply)}` }
}

function errorProblem(reply: Reply): Finding | null {
  const body = parsed(reply.text)
  if (body === undefined)
    return finding("wrong", `status ${reply.status}, and the error is not JSON: ${excerptOf(reply)}`)
  const { message } = fieldsOf(fieldsOf(body).error)
  if (typeof message === "string" && message !== "") return null
  return finding("wrong", `status ${reply.status}, and the error has no error.message: ${excerptOf(reply)}`)
}

function excerptOf({ text }: Reply): string {
  return JSON.stringify(text.slice(0, 100))
}
