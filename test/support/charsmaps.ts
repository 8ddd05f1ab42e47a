/** Tables of SentencePiece's normalizer, made small: the trie of `runtime/model/charsmap.ts` by the first free place. */

/** The table, in base64, in which each key becomes its text. */
export function charsmapOf(texts: Readonly<Record<string, string>>): string {
  const units = new Map<number, number>([[0, 0]])
  const values = new TextEncoder().encode(`${Object.values(texts).join("\0")}\0`)
  const starts = new Map<string, number>()
  let start = 0
  for (const [key, text] of Object.entries(texts)) {
    starts.set(Buffer.from(key).toString("latin1"), start)
    start += Buffer.byteLength(text) + 1
  }
  const place = (at: number, prefix: string): void => {
    const below = [...starts.keys()].filter((key) => key.startsWith(prefix) && key !== prefix)
    const labels = [...new Set(below.map((key) => key.charCodeAt(prefix.length)))]
    const isEnd = starts.has(prefix)
    let offset = 1
    const slot = (label: number) => at ^ offset ^ label
    while ([...labels, 0].some((label) => units.has(slot(label)))) offset++
    units.set(at, (units.get(at)! | (offset << 10) | (isEnd ? 0x100 : 0)) >>> 0)
    // The place of an end is taken in any case.
    units.set(slot(0), isEnd ? (0x80000000 | starts.get(prefix)!) >>> 0 : 0)
    for (const label of labels) units.set(slot(label), label)
    for (const label of labels) place(slot(label), prefix + String.fromCharCode(label))
  }
  place(0, "")
  const length = Math.max(...units.keys()) + 256
  const bytes = Buffer.alloc(4 + 4 * length)
  bytes.writeUInt32LE(4 * length)
  for (const [at, unit] of units) bytes.writeUInt32LE(unit, 4 + 4 * at)
  return Buffer.concat([bytes, values]).toString("base64")
}
