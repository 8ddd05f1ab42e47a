/**
 * A case of the suite for servers: the requests to send, and what judges the replies.
 *
 * Cases are data. Each one has a name that is unique in the suite, belongs to an area, and asks for
 * something that a server either does or refuses. A case is sent several times with different seeds
 * and temperatures, and its worst verdict counts.
 */

/**
 * What a server made of a case. `honoured`: it did what was asked. `ignored`: it replied with 200
 * and did not do it. `wrong`: the reply is malformed. `refused`: it replied with an error of the
 * client (4xx). `error`: there is no usable reply (transport, time, 5xx). `skipped`: the case could
 * not be judged.
 */
export const verdicts = ["honoured", "ignored", "wrong", "refused", "error", "skipped"] as const
export type Verdict = (typeof verdicts)[number]

/** From best to worst: the worst verdict of several samples is the verdict of the case. */
const severity: readonly Verdict[] = ["skipped", "honoured", "refused", "error", "ignored", "wrong"]

export interface Finding {
  verdict: Verdict
  /** The reason, for people. It is empty for what is simply right. */
  why: string
  /** Whether the text was cut off by its budget, so that only its beginning could be judged. */
  truncated?: boolean
}

export const honoured: Finding = { verdict: "honoured", why: "" }

export function finding(verdict: Verdict, why: string): Finding {
  return { verdict, why }
}

export type JsonObject = { readonly [name: string]: unknown }

/**
 * One request. A `body` that is a text is sent as it is; an object gets the model, the seed and the
 * temperature of the run, unless it has its own. Without a body the request is a GET.
 */
export interface ApiRequest {
  readonly path: string
  readonly body?: JsonObject | string
  readonly headers?: Readonly<Record<string, string>>
}

export interface Reply {
  /** 0 if there was no reply. */
  readonly status: number
  readonly contentType: string
  readonly text: string
  /** Whether the text is valid UTF-8. */
  readonly isUtf8: boolean
  /** Why the reply is missing or incomplete, or null. */
  readonly failure: string | null
  /** Whether the time of the run, and not the server, ended it. */
  readonly isRunOver?: boolean
  /** The body that was sent. */
  readonly sent: string
}

export interface ApiCase {
  readonly area: string
  readonly name: string
  /** They are sent one after another. */
  readonly requests: readonly ApiRequest[]
  /**
   * Judges the replies, one for each request. Is only called if each of them has the status 200.
   */
  judge(replies: readonly Reply[]): Finding
  /**
   * Whether the server must refuse the last request. Its reply is judged whatever its status is.
   */
  readonly expectsRefusal?: boolean
  /** Whether the route of the first request may be missing. The case is then skipped. */
  readonly isOptional?: boolean
  /** Whether the case is sent once, since seed and temperature do not matter. */
  readonly isSentOnce?: boolean
}

/** A JSON text in a body. It keeps the spelling of its numbers and the order of its keys. */
export class RawJson {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Writes a body. The values of `RawJson` keep their text. */
export function writeBody(body: JsonObject): string {
  const raw: string[] = []
  const text = JSON.stringify(body, (_, value) => {
    if (!(value instanceof RawJson)) return value
    raw.push(value.text)
    return `\u0001raw ${raw.length - 1}\u0001`
  })
  return text.replace(/"\\u0001raw (\d+)\\u0001"/g, (_, index) => raw[Number(index)])
}

/** Returns the worst of several findings. */
export function worst(findings: readonly Finding[]): Finding {
  const rank = ({ verdict, truncated }: Finding) => 2 * severity.indexOf(verdict) + (truncated ? 1 : 0)
  return findings.reduce((one, other) => (rank(other) > rank(one) ? other : one))
}
