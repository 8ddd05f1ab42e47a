/** Texts that tokenizers are compared over: what people write, what machines write, and what nobody does. */
import { existsSync, readFileSync } from "node:fs"
import { gunzipSync } from "node:zlib"
import { randomOf } from "../support/oracle.ts"

const maskbench = "../shared/data/maskbench-dev.jsonl.gz"

const words =
  "the of and Größe naïve Zürich 東京 日本語の 한국어 Привет мир שלום عربي हिन्दी ภาษาไทย don't I'LL we've it's x86_64 3.14159 1,000,000 2026-11-26 v1.2.3 foo_bar camelCase HTML utf8 ﬁne ½ ② Ⅷ ʼn ß ẞ İ ı".split(
    " ",
  )
const code = [
  "def f(x: int) -> str:\n    return f'{x!r:>10}'\n",
  "for (let i = 0; i < 10; i++) {\n\t\tconsole.log(`a`)\r\n}\r\n",
  "SELECT * FROM t WHERE a >= 10 AND b != 'x''y';\n",
  '<div class="a b">&amp; <!-- c --></div>\n',
  "#include <stdio.h>\nint main(void) { return 0x1F & ~3; }\n",
  "$ curl -s 'https://example.org/?q=%20&x=1#y' | jq '.[0]'\n",
]
const json = [
  '{"a": [1, 2.5e-3, null, true], "b": {"c": "d\\"e\\u00e9\\n"}}',
  '{\n  "x": "",\n  "y": []\n}',
  "[[[{}]]]",
]
const spaces = [
  " ",
  "  ",
  "   ",
  "\n",
  "\n\n",
  "\t",
  "\r\n",
  " \n",
  "\u00a0",
  "\u3000",
  "\u2028",
  "\u0085",
  "\ufeff",
  "\v",
  "\f",
  "\u200b",
  "\u1680",
]
const emoji = ["😀", "👩‍👩‍👧‍👦", "🇩🇪", "👍🏽", "❤️", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "1️⃣", "🫠"]
const marks = [
  "e\u0301",
  "n\u0303\u0323",
  "\u0301",
  "क्षि",
  "ก็",
  "a\u0300\u0301\u0302\u0303",
  "\u1112\u1161\u11ab",
  "Å",
  "\u212b",
  "ﷺ",
]
const controls = ["\0", "\x01", "\x07", "\x1b[0m", "\x7f", "\x80", "\x9f", "\ufffd", "\ue000", "\u{10fffe}"]
const punctuation = [
  ..."!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
  "…",
  "—",
  "“",
  "”",
  "。",
  "，",
  "！",
  "¿",
  "§",
  "€",
  "₿",
  "×",
  "≠",
  "→",
  "°",
  "’",
]
const spellings = [
  "<s>",
  "</s>",
  "<unk>",
  "<|im_start|>",
  "<|im_end|>",
  "<|endoftext|>",
  "<pad>",
  "[INST]",
  "<0x41>",
  "<bos>",
  "▁",
  "##a",
  "Ġ",
  "Ċ",
]

/** `count` texts; `added` are the contents of a tokenizer's added tokens, of which some texts spell some. */
export function texts(count: number, added: readonly string[]): string[] {
  const next = randomOf(7)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)]
  const point = (): string => {
    const plane = next() < 0.7 ? 0x3000 : next() < 0.8 ? 0x10000 : 0x20000
    for (;;) {
      const char = String.fromCodePoint(Math.floor(next() * plane))
      // Unicode grows: what is no character here may be one there.
      if (!/[\p{Cs}\p{Cn}]/u.test(char)) return char
    }
  }
  const digits = () => String(Math.floor(10 ** (next() * 12)))
  const kinds: (() => string)[] = [
    () => pick(words),
    () => pick(words) + pick(punctuation),
    () => pick(spaces),
    () => " ",
    () => " ".repeat(Math.floor(next() * 20)),
    () => pick(spaces).repeat(1 + Math.floor(next() * 4)),
    digits,
    () => pick(["१२३", "٣", "５", "²", "½"]) + digits(),
    () => pick(emoji),
    () => pick(marks),
    () => pick(controls),
    () => pick(punctuation).repeat(1 + Math.floor(next() * 3)),
    () => pick(code),
    () => pick(json),
    () => pick(spellings),
    () => (added.length > 0 ? pick(added) : ""),
    point,
    () => Array.from({ length: 1 + Math.floor(next() * 8) }, point).join(""),
  ]
  const instances = existsSync(maskbench) ? instancesOf(gunzipSync(readFileSync(maskbench)).toString()) : []
  return Array.from({ length: count }, (_, at) => {
    if (instances.length > 0 && at % 5 === 0) return pick(instances)
    if (at % 5 === 1) return Array.from({ length: Math.floor(next() * 12) }, () => pick(words)).join(" ")
    return Array.from({ length: 1 + Math.floor(next() * 10) }, () => pick(kinds)()).join("")
  })
}

function instancesOf(lines: string): string[] {
  return lines
    .trimEnd()
    .split("\n")
    .flatMap((line) => (JSON.parse(line) as { tests: { text: string }[] }).tests)
    .map(({ text }, at) =>
      (at % 3 === 0 ? text : JSON.stringify(JSON.parse(text), null, at % 3)).slice(0, 600),
    )
}
