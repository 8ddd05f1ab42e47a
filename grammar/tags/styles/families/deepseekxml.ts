/**
 * DeepSeek V3.2, V4 and V4.1: elements with their own control token, which say whether their value
 * is a string.
 */
import { type Block, otherTypes, type Style } from "../style.ts"
import { key, name, parameters, value, wire } from "../wire.ts"

/** Returns the block whose elements have these names. */
function block(calls: string, invoke: string, parameter: string, none?: string): Block {
  const form = (isString: boolean) =>
    wire`<｜DSML｜${parameter} name="${key}" string="${String(isString)}">${value}</｜DSML｜${parameter}>\n`
  return {
    lead: "\n\n",
    begin: wire`<｜DSML｜${calls}>\n`,
    call: wire`<｜DSML｜${invoke} name="${name}">\n${parameters}</｜DSML｜${invoke}>\n`,
    end: wire`</｜DSML｜${calls}>`,
    parameter: {
      forms: [
        { types: ["string"], wire: form(true) },
        { types: otherTypes, wire: form(false) },
      ],
      none,
    },
  }
}

export const deepseekXml: Style = {
  name: "deepseek_xml",
  controls: ["｜DSML｜"],
  blocks: [
    block("function_calls", "invoke", "parameter", "\n"),
    block("tool_calls", "invoke", "parameter", "\n"),
  ],
  reasoning: { begin: "<think>", end: "</think>" },
}

export const deepseekV41: Style = {
  name: "deepseek_v4_1",
  controls: ["｜DSML｜"],
  blocks: [block(" calls", " invoke", " parameter", "\n")],
  reasoning: { begin: "<think>", end: "</think>" },
}
