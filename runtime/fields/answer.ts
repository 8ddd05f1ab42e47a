/**
 * The field events of one answer: those of its JSON text, and those of the arguments of each call.
 */
import { type CertaintySpan, FieldCertainty } from "./certainty.ts"
import { type FieldEvent, FieldReader } from "./reader.ts"

/**
 * A closed value, with the index of the call whose arguments contain it; without one if the text
 * contains it.
 */
export type ClosedField = FieldEvent & { readonly type: "close"; readonly call?: number }

/** The reader of one JSON text. */
class JsonFields {
  private readonly reader = new FieldReader()
  /** Null if the request did not ask how sure the model was. */
  private readonly certainty: FieldCertainty | null

  constructor(isJudged: boolean) {
    this.certainty = isJudged ? new FieldCertainty() : null
  }

  push(text: string, span: CertaintySpan | undefined): readonly FieldEvent[] {
    return this.judged(this.reader.push(text), span)
  }

  finish(span: CertaintySpan | undefined): readonly FieldEvent[] {
    return this.judged(this.reader.finish(), span)
  }

  private judged(events: readonly FieldEvent[], span: CertaintySpan | undefined): readonly FieldEvent[] {
    return this.certainty?.judge(events, span) ?? events
  }
}

export class AnswerFields {
  /** Closed values, if the request asked how sure the model was. */
  readonly closed: ClosedField[] | null
  private readonly text: JsonFields | null
  private readonly calls: JsonFields[] = []
  /** Calls whose arguments are not JSON. */
  private readonly areCustom: boolean[] = []
  private readonly isJudged: boolean

  /**
   * `isJson`: whether the text of the answer is JSON. `isJudged`: whether closed values report how
   * sure the model was.
   */
  constructor(isJson: boolean, isJudged: boolean) {
    this.isJudged = isJudged
    this.closed = isJudged ? [] : null
    this.text = isJson ? new JsonFields(isJudged) : null
  }

  begin(call: number, isCustom: boolean): void {
    this.areCustom[call] = isCustom
  }

  /**
   * Adds a piece of the answer's text, or of the arguments of `call`. `span`: the tokens that wrote
   * the piece.
   */
  push(text: string, call: number | null, span?: CertaintySpan): readonly FieldEvent[] {
    if (call === null) return text === "" ? [] : this.kept(this.text?.push(text, span) ?? [], null)
    if (this.areCustom[call]) return []
    this.calls[call] ??= new JsonFields(this.isJudged)
    return this.kept(this.calls[call].push(text, span), call)
  }

  /** Ends the text. */
  finish(span?: CertaintySpan): readonly FieldEvent[] {
    return this.kept(this.text?.finish(span) ?? [], null)
  }

  private kept(events: readonly FieldEvent[], call: number | null): readonly FieldEvent[] {
    if (this.closed === null) return events
    for (const event of events)
      if (event.type === "close") this.closed.push({ ...(call !== null && { call }), ...event })
    return events
  }
}
