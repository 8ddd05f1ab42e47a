/**
 * Cache of compiled constraints. Equal input and options return the same Grammar and the same
 * TokenFsm, whose tables have grown with all earlier requests, or throw the same refusal. The cache
 * is bounded by bytes. Evicting an entry costs time but changes no answer.
 */

import { LRUCache } from "lru-cache"
import {
  type CompileOptions,
  compile,
  Grammar,
  GrammarError,
  type GrammarInput,
  type Report,
  TimeError,
} from "../../grammar/index.ts"
import { bindGrammar, type Stored, type TokenMachine, type Vocabulary } from "../../mask/index.ts"
import { wrong } from "../errors.ts"

export interface Compiled {
  readonly grammar: Grammar
  /** Null if the caller passed a Grammar. */
  readonly report: Report | null
  /** Duration of the compilation in milliseconds. */
  readonly compileMs: number
  readonly isCached: boolean
}

/** A constraint and its machine over the engine's vocabulary. */
export interface BoundConstraint {
  readonly machine: TokenMachine
  readonly report: Report | null
  /** Duration of the compilation in milliseconds; 0 if the constraint was cached. */
  readonly compileMs: number
  readonly isCached: boolean
}

interface Entry {
  readonly grammar: Grammar
  readonly report: Report | null
  readonly compileMs: number
  /** Approximate bytes of the grammar. */
  readonly grammarBytes: number
  machine: TokenMachine | undefined
}

export interface CompiledOptions {
  /** Approximate bytes of all cached grammars and machines together. */
  maxBytes?: number
  /** Maximum number of constraints, whatever their size. */
  count?: number
}

export const maxKeptBytes = 256 << 20
export const maxKeptCount = 512

/**
 * Bytes of a grammar besides twice the size of its source text: a schema of 8 MB keeps about 9 MB
 * (Node 20).
 */
const baseBytes = 64 << 10
/** Bytes of one transition of a machine. */
const transitionBytes = 24

export class CompiledConstraints {
  hitCount = 0
  missCount = 0
  private readonly vocabulary: Vocabulary
  private readonly entries: LRUCache<string | Grammar, Entry>
  private readonly refusals: LRUCache<string, GrammarError>
  private readonly maxBytes: number

  constructor(
    vocabulary: Vocabulary,
    { maxBytes = maxKeptBytes, count = maxKeptCount }: CompiledOptions = {},
  ) {
    this.vocabulary = vocabulary
    this.maxBytes = maxBytes
    this.entries = new LRUCache({ max: count })
    this.refusals = new LRUCache({ max: count })
  }

  /**
   * Returns the compiled constraint. The grammar may name the control tokens of the vocabulary.
   * Throws GrammarError. `key`: equal keys mean equal inputs and options; undefined: the result is
   * not cached.
   */
  compile(
    input: GrammarInput | Grammar,
    options: CompileOptions = {},
    key = input instanceof Grammar ? undefined : keyOf(input, options),
  ): Compiled {
    if (input instanceof Grammar) return { grammar: input, report: null, compileMs: 0, isCached: true }
    const known = key === undefined ? undefined : this.entries.get(key)
    if (known) {
      this.hitCount++
      return { ...known, isCached: true }
    }
    const refusal = key === undefined ? undefined : this.refusals.get(key)
    if (refusal) {
      this.hitCount++
      throw refusal
    }
    this.missCount++
    const start = performance.now()
    const made = this.make(input, options, key)
    const compileMs = performance.now() - start
    if (key !== undefined) {
      const grammarBytes = baseBytes + 2 * sourceLength(input, options)
      this.entries.set(key, { ...made, compileMs, grammarBytes, machine: undefined })
      this.trim()
    }
    return { ...made, compileMs, isCached: false }
  }

  /**
   * Returns the constraint and its machine. `compileMs`: the maximum duration of the compilation.
   * Throws GrammarError.
   */
  bind(
    { input, policies }: { input: GrammarInput | Grammar; policies: CompileOptions },
    key: string | undefined,
    compileMs: number,
  ): BoundConstraint {
    const limits = {
      ...policies.limits,
      compileMs: Math.min(compileMs, policies.limits?.compileMs ?? compileMs),
    }
    const compiled = this.compile(input, { surface: "generate", ...policies, limits }, key)
    const { grammar, report, isCached } = compiled
    const machine = this.machine(grammar, key)
    return { machine, report, compileMs: isCached ? 0 : compiled.compileMs, isCached }
  }

  /** Returns the machine of a grammar, cached under the grammar's key. */
  machine(grammar: Grammar, key: string | Grammar = grammar): TokenMachine {
    const entry = this.entries.get(key)
    if (entry?.machine) return entry.machine
    const machine = bindGrammar(grammar, this.vocabulary)
    if (entry) entry.machine = machine
    else if (key === grammar) {
      this.entries.set(key, { grammar, report: null, compileMs: 0, grammarBytes: 0, machine })
    }
    return machine
  }

  /**
   * Returns the machine of a constraint that was compiled elsewhere. Throws RequestError if it was
   * compiled for another vocabulary.
   */
  stored({ machine }: Stored): TokenMachine {
    if (machine.vocabulary.hash === this.vocabulary.hash) return machine
    throw wrong(
      "constraint",
      "it was compiled for another vocabulary. Read it with the vocabulary of this model: deserialize(bytes, engine.vocabulary)",
    )
  }

  /** Approximate bytes of the cache. O(constraints). */
  get bytes(): number {
    let bytes = 0
    for (const entry of this.entries.values()) bytes += bytesOf(entry)
    return bytes
  }

  /** States of all cached machines. O(constraints). */
  get stateCount(): number {
    let count = 0
    for (const { machine } of this.entries.values()) count += machine?.stats().states ?? 0
    return count
  }

  /**
   * Evicts the least recently used entries until the rest fits. Machines grow with use, so this
   * must be called from time to time.
   */
  trim(): void {
    let { bytes } = this
    for (const key of [...this.entries.rkeys()]) {
      if (bytes <= this.maxBytes) return
      bytes -= bytesOf(this.entries.peek(key)!)
      this.entries.delete(key)
    }
  }

  private make(
    input: GrammarInput,
    options: CompileOptions,
    key: string | undefined,
  ): { grammar: Grammar; report: Report } {
    try {
      return compile(input, { ...options, tokens: this.vocabulary })
    } catch (error) {
      // A refusal for lack of time is not cached: a later try may have enough.
      if (key !== undefined && error instanceof GrammarError && !(error instanceof TimeError)) {
        this.refusals.set(key, error)
      }
      throw error
    }
  }
}

function bytesOf({ grammarBytes, machine }: Entry): number {
  if (!machine) return grammarBytes
  const { stateBytes, transitions, maskBytes } = machine.stats()
  return grammarBytes + stateBytes + transitionBytes * transitions + maskBytes
}

/** Approximate number of UTF-16 units of the texts that a grammar is compiled from. */
function sourceLength(input: GrammarInput, options: CompileOptions): number {
  const documents = Object.values(options.documents ?? {}).reduce((sum, text) => sum + text.length, 0)
  switch (input.kind) {
    case "json":
      return (
        documents + (typeof input.schema === "string" ? input.schema : JSON.stringify(input.schema)).length
      )
    case "regex":
      return input.pattern.length
    case "choice":
      return input.options.reduce((sum, option) => sum + option.length, 0)
    case "gbnf":
    case "lark":
    case "grammar":
      return input.text.length
    case "tag":
    case "tools":
      return JSON.stringify(input).length
    case "substring":
      return "chunks" in input
        ? input.chunks.reduce((sum, chunk) => sum + chunk.length, 0)
        : input.text.length
    default:
      return input satisfies never
  }
}

/**
 * Returns the cache key; undefined if JSON cannot represent the input (a bigint, a cycle, a
 * Grammar). Such an input is compiled each time.
 */
export function keyOf(input: GrammarInput, options: CompileOptions): string | undefined {
  try {
    return JSON.stringify([input, options], (_, value) => {
      const isLost = typeof value === "number" && !Number.isFinite(value)
      if (isLost || value instanceof Grammar) throw new RangeError("not JSON")
      return value
    })
  } catch {
    return undefined
  }
}
