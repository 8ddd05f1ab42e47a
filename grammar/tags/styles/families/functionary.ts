/**
 * Functionary 3.1, and Llama 3.1 with custom functions: the name is in the tag, the arguments are
 * between it and its end.
 */
import type { Style } from "../style.ts"
import { json, name, wire } from "../wire.ts"

export const functionaryV31: Style = {
  name: "functionary_v3_1",
  controls: ["</function>"],
  trigger: wire`<function=`,
  blocks: [{ call: wire`<function=${name}>${json}</function>` }],
}
