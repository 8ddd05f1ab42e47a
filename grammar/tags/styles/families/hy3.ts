/**
 * Hunyuan 3: keys and values in elements of their own, each on its line. All calls are between one
 * pair of tags.
 */
import { everyType, type Style } from "../style.ts"
import { key, name, parameters, value, wire } from "../wire.ts"

/** In the published weights every tag has this mark. */
const mark = ":opensource"
const tags = (tag: string) => [`<${tag}${mark}>`, `</${tag}${mark}>`] as const
const [callsBegin, callsEnd] = tags("tool_calls")
const [callBegin, callEnd] = tags("tool_call")
const [keyBegin, keyEnd] = tags("arg_key")
const [valueBegin, valueEnd] = tags("arg_value")
const [separator] = tags("tool_sep")
const [thinkBegin, thinkEnd] = tags("think")

export const hy3: Style = {
  name: "hy3",
  controls: [
    ...[callsBegin, callsEnd, callBegin, callEnd, separator],
    ...[keyBegin, keyEnd, valueBegin, valueEnd, thinkBegin, thinkEnd],
  ],
  blocks: [
    {
      begin: wire`${callsBegin}\n`,
      call: wire`${callBegin}${name}${separator}\n${parameters}${callEnd}\n`,
      end: wire`${callsEnd}`,
      parameter: {
        forms: [
          { types: everyType, wire: wire`${keyBegin}${key}${keyEnd}\n${valueBegin}${value}${valueEnd}\n` },
        ],
      },
    },
  ],
  reasoning: { begin: thinkBegin, end: thinkEnd },
}
