/**
 * The shipped model under a chat template as models that think have it: its reasoning stands between `<think>` and `</think>`, and is
 * left out by a variable of the template, or by a word in the text. The template refuses two turns of a user in a row.
 */
import { cpSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { packageFile } from "../../runtime/index.ts"

const lines = [
  "{%- if tools %}<|im_start|>system\n{% for tool in tools %}{{ tool | tojson }}\n{% endfor %}<|im_end|>\n{% endif -%}",
  "{%- for message in messages -%}",
  "{%- if message.role == 'user' and loop.index0 > 0 and messages[loop.index0 - 1].role == 'user' -%}",
  "{{ raise_exception('roles have to alternate') }}{%- endif -%}",
  "<|im_start|>{{ message.role }}\n",
  "{%- if message.reasoning_content %}<think>\n{{ message.reasoning_content }}\n</think>\n\n{% endif -%}",
  "{{ message.content }}",
  "{%- for call in message.tool_calls or [] %}<tool_call>\n{{ call.function | tojson }}\n</tool_call>{% endfor -%}",
  "<|im_end|>\n",
  "{%- endfor -%}",
  "{%- if add_generation_prompt -%}<|im_start|>assistant\n",
  "{%- if enable_thinking is false or '/no_think' in messages[-1].content %}<think>\n\n</think>\n\n",
  "{% elif enable_thinking is true %}<think>\n{% endif -%}",
  "{%- endif -%}",
]

/** Writes a model directory and returns its path. */
export function writeThinkingModel(directory: string): string {
  cpSync(packageFile("runtime/embedded"), directory, {
    recursive: true,
    filter: (path) => !path.includes("train"),
  })
  const file = join(directory, "tokenizer_config.json")
  const config = JSON.parse(readFileSync(file, "utf8"))
  writeFileSync(file, JSON.stringify({ ...config, chat_template: lines.join("") }))
  return directory
}
