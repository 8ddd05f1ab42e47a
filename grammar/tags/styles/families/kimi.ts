/**
 * Kimi K2: numbered calls in a section. Name and number together are the id by which results refer
 * to a call.
 */
import type { Style } from "../style.ts"
import { id, index, json, name, wire } from "../wire.ts"

export const kimiK2: Style = {
  name: "kimi_k2",
  controls: [
    "<|tool_calls_section_begin|>",
    "<|tool_call_begin|>",
    "<|tool_call_argument_begin|>",
    "<|tool_call_end|>",
    "<|tool_calls_section_end|>",
  ],
  blocks: [
    {
      begin: wire`<|tool_calls_section_begin|>`,
      call: wire`<|tool_call_begin|>${id(wire`functions.${name}:${index(0, "conversation")}`)}<|tool_call_argument_begin|>${json}<|tool_call_end|>`,
      end: wire`<|tool_calls_section_end|>`,
    },
  ],
  reasoning: { begin: "<think>", end: "</think>" },
}
