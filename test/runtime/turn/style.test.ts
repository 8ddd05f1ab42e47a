/** What a chat template tells of its model: fragments as the families' own templates have them. */
import { expect, test } from "vitest"
import { readReasoning, styleOfTemplate } from "../../../runtime/turn/style.ts"

test.each<[template: string, style: string, end: string | null]>([
  ["{{ messages }}", "hermes", null],
  [
    "<tool_call>\\n{{ tool_call.arguments }}\\n</tool_call> {{ content.split('</think>') }}",
    "hermes",
    "</think>",
  ],
  ["<tool_call>\\n<function={{ name }}>", "qwen_xml", null],
  ["<tool_call><function={{ name }}>", "mimo", null],
  ["<tool_call>{{ name }}<arg_key>{{ k }}</arg_key> </think>", "glm_xml", "</think>"],
  ["[TOOL_CALLS]{{ name }}[ARGS] [THINK]a[/THINK]", "mistral", "[/THINK]"],
  ["<|start|>assistant<|channel|>final<|message|>", "harmony", null],
  ["<|tool_calls_section_begin|>", "kimi_k2", null],
  ["<｜tool▁calls▁begin｜>function\\n```json", "deepseek_v3", null],
  ["<｜tool▁calls▁begin｜>", "deepseek_v3_1", null],
  ["<｜DSML｜function_calls>", "deepseek_xml", null],
  ["<minimax:tool_call>", "minimax_xml", null],
  ["<seed:tool_call> </seed:think>", "seed_oss", "</seed:think>"],
  ["<|START_ACTION|> <|START_RESPONSE|>", "cohere", null],
  ["<|START_ACTION|> <|START_TEXT|>", "cohere2", null],
  ["<|python_tag|> <|start_header_id|>", "llama3_json", null],
  ["<|tool_list_start|>", "lfm2", null],
  ["\\n<tool_calls>[{{ call }}]</tool_calls>", "apriel", null],
  ["<tool_calls>\\n{{ call }}\\n</tool_calls>", "minimax_m1", null],
  ["<TOOLCALL>[{{ call }}]</TOOLCALL> <think></think>", "nemotron_v2", "</think>"],
  ["<|start_header_id|> <function={{ name }}></function>", "functionary_v3_1", null],
  ["<|tools_prefix|>[ <|inner_prefix|> <|inner_suffix|>", "apertus", "<|inner_suffix|>"],
  ["set M = ':opensource' '<tool_sep{}>'.format(M) '</think{}>'.format(M)", "hy3", "</think:opensource>"],
  ["<|tool_call:begin|><|tool_call:args|> <|think|>", "solar_open", null],
  ["<|start|>assistant<|message|><atem:function_calls>", "muse", null],
  ["<|role_sep|> <|function_call|>", "gigachat3_1", null],
  ["'role': 'function call' <|role_sep|>", "gigachat3", null],
])("%j is of the style %s", (template, style, end) => {
  const told = styleOfTemplate(template)
  expect([told.style, told.reasoning?.end.trim() ?? null]).toEqual([style, end])
})

test("reasoning is what the template tells, nothing, or two tags", () => {
  const told = { style: "hermes", reasoning: { begin: "<think>", end: "</think>" } }
  expect(readReasoning("auto", told)).toBe(told.reasoning)
  expect(readReasoning("none", told)).toBe(null)
  expect(readReasoning("<a>,</a>", told)).toEqual({ begin: "<a>", end: "</a>" })
  for (const wrong of ["", "<a>", "<a>,", ",</a>", "a,b,c"])
    expect(() => readReasoning(wrong, told)).toThrow(RangeError)
})
