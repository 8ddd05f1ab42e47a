/** Rank files in the formats of tiktoken and tekken: every byte, three longer tokens, then what makes them interesting. */

const base64 = (bytes: readonly number[]) => Buffer.from(bytes).toString("base64")
const pieces: number[][] = [
  ...Array.from({ length: 256 }, (_, byte) => [byte]),
  [0x20, 0x61],
  [0xe3, 0x81],
  [0xff, 0xfe],
]

/** Ranks 0 to 258 and 260: 259 is a gap. */
export function tiktokenFile(): string {
  const lines = pieces.map((bytes, rank) => `${base64(bytes)} ${rank}`)
  return `${[...lines, `${base64([0x31, 0x32])} 260`].join("\n")}\n`
}

/** 264 ids: 5 special tokens, of which four have names, and 259 ranks; two more are cut. */
export function tekkenFile() {
  const entry = (bytes: readonly number[], rank: number) => ({
    rank,
    token_bytes: base64(bytes),
    token_str: null,
  })
  return {
    config: {
      pattern: ".",
      num_vocab_tokens: pieces.length + 2,
      default_vocab_size: 264,
      default_num_special_tokens: 5,
      version: "v11",
    },
    vocab: [...pieces, [0x31, 0x32], [0x33, 0x34]].map(entry),
    special_tokens: ["<unk>", "<s>", "</s>", "[INST]"].map((token_str, rank) => ({
      rank,
      token_str,
      is_control: true,
    })),
  }
}
