/**
 * All styles by name. A new style is one file, and one line here.
 */
import { GrammarError } from "../../errors.ts"
import { apertus } from "./families/apertus.ts"
import { apriel } from "./families/apriel.ts"
import { cohere, cohere2 } from "./families/cohere.ts"
import { deepseekV3, deepseekV31 } from "./families/deepseek.ts"
import { deepseekV41, deepseekXml } from "./families/deepseekxml.ts"
import { exaone } from "./families/exaone.ts"
import { functionaryV31 } from "./families/functionary.ts"
import { gigachat3, gigachat31 } from "./families/gigachat.ts"
import { glmXml } from "./families/glmxml.ts"
import { harmony } from "./families/harmony.ts"
import { hermes } from "./families/hermes.ts"
import { hy3 } from "./families/hy3.ts"
import { kimiK2 } from "./families/kimi.ts"
import { kimiK3 } from "./families/kimik3.ts"
import { llama3Json } from "./families/llama3.ts"
import { mimo } from "./families/mimo.ts"
import { minimaxM1 } from "./families/minimaxm1.ts"
import { minimaxXml } from "./families/minimaxxml.ts"
import { mistral } from "./families/mistral.ts"
import { muse } from "./families/muse.ts"
import { nemotronV2 } from "./families/nemotron.ts"
import { lfm2, pythonic } from "./families/pythonic.ts"
import { qwenXml } from "./families/qwenxml.ts"
import { seedOss } from "./families/seedoss.ts"
import { solarOpen } from "./families/solaropen.ts"
import type { Style } from "./style.ts"

export const styles: readonly Style[] = [
  hermes,
  llama3Json,
  mistral,
  harmony,
  deepseekV3,
  deepseekV31,
  qwenXml,
  deepseekXml,
  glmXml,
  minimaxXml,
  kimiK2,
  deepseekV41,
  exaone,
  mimo,
  seedOss,
  cohere,
  cohere2,
  kimiK3,
  pythonic,
  lfm2,
  apriel,
  nemotronV2,
  minimaxM1,
  functionaryV31,
  apertus,
  hy3,
  solarOpen,
  muse,
  gigachat3,
  gigachat31,
]

const byName = new Map(styles.map((style) => [style.name, style]))

/** Returns the style `name`. Throws `syntax` with the known names if there is none. */
export function styleOf(name: string): Style {
  const style = byName.get(name)
  if (style === undefined) {
    const names = [...byName.keys()].join(", ")
    throw new GrammarError(
      "syntax",
      "style",
      `no tool-call style is named ${JSON.stringify(name)}. There are: ${names}`,
    )
  }
  return style
}
