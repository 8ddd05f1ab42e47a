/** The field events of one answer: those of its JSON text, and those of the arguments of each call. */
import { type FieldEvent, FieldReader } from "./reader.ts"

export class AnswerFields {
  private readonly text: FieldReader | null
  private readonly calls: FieldReader[] = []
  /** Which calls have arguments that are no JSON. */
  private readonly areCustom: boolean[] = []

  /** `isJson`: the text of the answer is a JSON text. */
  constructor(isJson: boolean) {
    this.text = isJson ? new FieldReader() : null
  }

  begin(call: number, isCustom: boolean): void {
    this.areCustom[call] = isCustom
  }

  /** More of the text, or of the arguments of `call`. */
  push(text: string, call: number | null): readonly FieldEvent[] {
    if (call === null) return text === "" ? [] : (this.text?.push(text) ?? [])
    if (this.areCustom[call]) return []
    this.calls[call] ??= new FieldReader()
    return this.calls[call].push(text)
  }

  /** The text is whole. */
  finish(): readonly FieldEvent[] {
    return this.text?.finish() ?? []
  }
}
