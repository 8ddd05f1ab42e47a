/**
 * What runs in the page, and in Node beside it: every row against brute force, and a hash of all masks on the way.
 *
 * Everything that this file imports is bundled for the browser.
 */
import { compile } from "../../grammar/index.ts"
import { Matcher, TokenFsm } from "../../mask/index.ts"
import { allowedIds, compareMasks, type OracleCase, randomOf } from "../support/oracle.ts"
import { browserRows } from "./rows.ts"

export interface RowResult {
  name: string
  disagreements: string[]
  prefixCount: number
  /** FNV-1a over the words of all masks of some walks. */
  hash: number
  maskCount: number
}

export function runRows(rows: readonly OracleCase[] = browserRows()): RowResult[] {
  return rows.map((row) => ({ name: row.name, ...compareMasks(row), ...hashMasks(row) }))
}

/** Walks that are drawn with fixed seeds: equal hashes mean equal masks and equal ways. */
function hashMasks(row: OracleCase): { hash: number; maskCount: number } {
  const fsm = new TokenFsm(compile(row.input, row.options).grammar, row.vocabulary)
  const mask = new Uint32Array(row.vocabulary.words)
  let hash = 0x811c9dc5
  let maskCount = 0
  for (let seed = 0; seed < 20; seed++) {
    const random = randomOf(seed)
    const matcher = new Matcher(fsm)
    for (let step = 0; step < 12 && !matcher.isTerminated(); step++) {
      matcher.fillMask(mask)
      maskCount++
      for (const word of mask) hash = Math.imul(hash ^ word, 0x01000193)
      const allowed = allowedIds(mask, row.vocabulary.width)
      matcher.accept(allowed[Math.floor(random() * allowed.length)])
    }
  }
  return { hash, maskCount }
}

Object.assign(globalThis, { runRows: () => runRows() })
