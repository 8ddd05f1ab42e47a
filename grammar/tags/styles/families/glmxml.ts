/**
 * GLM 4.5 to 5: keys and values in elements of their own. Up to 4.6 they are separated by line
 * ends, since 4.7 by nothing.
 */
import { everyType, type Style } from "../style.ts"
import { key, name, optional, parameters, value, wire } from "../wire.ts"

const line = optional("\n")

export const glmXml: Style = {
  name: "glm_xml",
  controls: ["<tool_call>", "</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"],
  blocks: [
    {
      lead: "\n",
      call: wire`<tool_call>${name}${line}${parameters}</tool_call>`,
      between: [line],
      parameter: {
        forms: [
          {
            types: everyType,
            wire: wire`<arg_key>${key}</arg_key>${line}<arg_value>${value}</arg_value>${line}`,
          },
        ],
      },
    },
  ],
  reasoning: { begin: "<think>", end: "</think>" },
}
