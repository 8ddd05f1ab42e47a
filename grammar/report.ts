/**
 * The report of `compile`: what became of every keyword, and whether anything satisfies the input.
 */
import { currentWorld, inWorld } from "./tables.ts"

/** What became of one keyword of a schema. */
export interface KeywordNote {
  /** JSON pointer of the keyword; for a text, line and column of the pattern. */
  path: string
  keyword: string
  /**
   * `exact`: enforced. `annotation`: without effect by the standard. `relaxed`: dropped because the
   * caller asked for it.
   */
  status: "exact" | "annotation" | "relaxed"
  note?: string
}

/**
 * The report of a compilation: whether anything satisfies the input, and what became of every
 * keyword.
 */
export interface Report {
  satisfiable: boolean
  /** Why nothing satisfies it. */
  reason?: { path: string; message: string }
  /**
   * Every keyword of every schema that was read, once. For a turn with tools these are the keywords
   * of their schemas, by pointers into `tools`, and of its `response_format`. For other inputs they
   * are the patterns that are written in another dialect.
   */
  keywords: KeywordNote[]
  counts: { exact: number; annotation: number; relaxed: number }
}

/**
 * Makes a report. `notes` is called when the keywords are read: most callers only want the grammar.
 */
export function makeReport(notes: () => KeywordNote[], reason?: { path: string; message: string }): Report {
  return new LazyReport(notes, reason)
}

/**
 * Its getters belong to the class. Those of an object literal would be part of its hidden class,
 * one for each object, which keeps what they close over (the whole schema) until the next full
 * collection.
 */
class LazyReport implements Report {
  readonly satisfiable: boolean
  declare readonly reason?: { path: string; message: string }
  private readonly notes: () => KeywordNote[]
  private readonly world = currentWorld()
  private known: Pick<Report, "keywords" | "counts"> | null = null

  constructor(notes: () => KeywordNote[], reason?: { path: string; message: string }) {
    this.satisfiable = reason === undefined
    if (reason !== undefined) this.reason = reason
    this.notes = notes
  }

  get keywords(): KeywordNote[] {
    return this.look().keywords
  }

  get counts(): Report["counts"] {
    return this.look().counts
  }

  toJSON(): Report {
    const { satisfiable, reason } = this
    return { satisfiable, ...(reason === undefined ? {} : { reason }), ...this.look() }
  }

  private look(): Pick<Report, "keywords" | "counts"> {
    this.known ??= inWorld(this.world, () => counted(this.notes()))
    return this.known
  }
}

function counted(keywords: KeywordNote[]): Pick<Report, "keywords" | "counts"> {
  const counts = { exact: 0, annotation: 0, relaxed: 0 }
  for (const { status } of keywords) counts[status]++
  return { keywords, counts }
}
