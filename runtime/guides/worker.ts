/**
 * The code of a thread of walks: it opens them, moves them and fills their masks, one question
 * after the other.
 *
 * It may be ended at any moment: the engine can recreate everything that it holds. `start.ts`
 * starts it; `protocol.ts` has the messages.
 */
import { getHeapStatistics } from "node:v8"
import { receiveMessageOnPort, workerData } from "node:worker_threads"
import { excusingWaits, withinTime } from "../../grammar/deadline.ts"
import { type CompileOptions, type GrammarInput, TimeError } from "../../grammar/index.ts"
import { parseVocabulary, type Vocabulary } from "../../mask/index.ts"
import { CompiledConstraints } from "../engine/compiled.ts"
import { readModelDirectory } from "../model/folder.ts"
import { Tokenizer } from "../model/tokenizer.ts"
import { warmUp } from "../warm/warm.ts"
import { Crowding } from "./crowding.ts"
import { openWalks, type WalkRequest } from "./opening.ts"
import { excused, systemThread, waitedMs } from "./priority.ts"
import {
  Answered,
  Asked,
  BusyTurn,
  type FromThread,
  MachineCount,
  packError,
  packOpening,
  StateCount,
  type ThreadData,
  type ToThread,
  timedWork,
  Unit,
  UnitKind,
  type UnitKindName,
  UnitOwner,
  unitKinds,
} from "./protocol.ts"
import { isMisfit, type Misfit, type Outlook, shareMachineIds, type Verdict, type Walk } from "./walk.ts"

const data = workerData as ThreadData
const crowding = new Crowding()
const ownThread = systemThread()
const { port } = data
const signal = new Int32Array(data.signal)
const shared = new Int32Array(data.shared)

/** Milliseconds for which the answers of one step are held, to be sent together. */
const maxHeldMs = 1
/**
 * Milliseconds without a question after which the thread warms up, step by step until the next
 * question.
 */
const pauseMs = 5

interface Running {
  readonly walk: Walk
  /** The walk's request, by which the engine identifies work. */
  readonly owner: number
  slot: number
}

class WalkServer {
  private readonly vocabulary: Vocabulary
  private readonly tokenizer: Tokenizer
  private readonly compiled: CompiledConstraints
  private readonly running = new Map<number, Running>()
  private readonly scratch: Uint32Array
  /** The remaining steps of the warm-up, each of which is short. Null if there are none. */
  private warming: Iterator<void> | null
  private units = 0

  constructor(vocabulary: Vocabulary, tokenizer: Tokenizer) {
    this.vocabulary = vocabulary
    this.tokenizer = tokenizer
    this.compiled = new CompiledConstraints(vocabulary)
    this.scratch = new Uint32Array(vocabulary.words)
    this.warming = data.warms ? warmUp(vocabulary) : null
  }

  serve(question: ToThread): void {
    switch (question.kind) {
      case "open":
        this.open(question)
        break
      case "begin":
        this.begin(question.guide, question.slot)
        break
      case "step":
        this.step(question.accepts, question.looks)
        break
      case "draft": {
        const { ask, guide, proposed, bound } = question
        this.work(guide, (walk) => {
          say({ kind: "drafted", ask, drafted: walk.draft(proposed, bound) })
        })
        break
      }
      case "glimpse": {
        const { ask, guide, tokens } = question
        this.work(guide, (walk) => say({ kind: "glimpsed", ask, glimpse: walk.glimpse(tokens) }))
        break
      }
      case "release":
        for (const guide of question.guides) this.running.delete(guide)
        if (this.running.size === 0) this.compiled.trim()
        break
      default:
        question satisfies never
    }
    if (question.kind === "open" || question.kind === "release") {
      Atomics.store(signal, StateCount, this.compiled.stateCount)
    }
    Atomics.store(signal, Unit, 0)
  }

  get isWarm(): boolean {
    return this.warming === null
  }

  /** Runs one step of the warm-up. */
  warm(): void {
    if (this.warming?.next().done) this.warming = null
  }

  private open({ owner, places, request, key, compileMs }: ToThread & { kind: "open" }): void {
    let isCompiling = true
    try {
      this.mark(owner, "compile")
      const { constraint } = request
      const boundMs = crowding.factor * compileMs
      const bind = () => constraint && this.compiled.bind(plain(constraint), key, boundMs)
      const before = waitedMs(ownThread)
      const bound = excusingWaits(() => excused(waitedMs(ownThread) - before, boundMs), bind)
      isCompiling = false
      const kind = request.closes || request.badWords.length > 0 ? "completion" : "mask"
      this.mark(owner, kind)
      const parts = { vocabulary: this.vocabulary, encode: this.tokenizer.encodePart }
      const { opening, walks } = this.timed(kind, () => openWalks(request, places.length, bound, parts))
      for (const [index, { guide, slot, walked }] of places.entries()) {
        this.mark(owner, kind)
        for (const token of walked) walks[index].replay(token, this.scratch)
        this.running.set(guide, { walk: walks[index], owner, slot })
      }
      say({
        kind: "opened",
        owner,
        opening: packOpening(opening, request.wantsReport),
        bytes: heapBytes(),
      })
    } catch (error) {
      say({
        kind: "refused",
        owner,
        error: packError(error),
        isLate: isCompiling && error instanceof TimeError,
      })
      return
    }
    const accepts = places.flatMap(({ guide, token, ahead }) =>
      token === undefined ? [] : [[guide, token, ahead] as const],
    )
    const looks = places.filter(({ token, next }) => token === undefined && next === "look")
    // An outlook that the engine already knows is found once more, because the tokens that are
    // still to be forced are part of the walk's state.
    for (const { guide, token, next } of places)
      if (token === undefined && next === "seen") this.work(guide, (walk) => walk.look(this.scratch))
    this.step(
      accepts,
      looks.map(({ guide }) => guide),
    )
  }

  private begin(guide: number, slot: number): void {
    const running = this.running.get(guide)
    if (!running) return
    running.slot = slot
    this.step([], [guide])
  }

  private step(
    accepts: readonly (readonly [guide: number, token: number, ahead: number])[],
    looks: readonly number[],
  ): void {
    const verdicts: [number, Verdict | Misfit][] = []
    const outlooks: [number, Outlook][] = []
    let saidAt = performance.now()
    const flush = (isLast: boolean): void => {
      if (!isLast && performance.now() - saidAt < maxHeldMs) return
      if (verdicts.length > 0) say({ kind: "verdicts", entries: verdicts.splice(0) })
      if (outlooks.length > 0) say({ kind: "outlooks", entries: outlooks.splice(0) })
      saidAt = performance.now()
    }
    const next = [...looks]
    for (const [guide, token, ahead] of accepts) {
      this.work(guide, (walk) => {
        const verdict = walk.accept(token, ahead)
        verdicts.push([guide, verdict])
        if (!isMisfit(verdict) && !(verdict.run?.at(-1) ?? verdict).isExhausted) next.push(guide)
      })
      flush(false)
    }
    // The engine can continue with these answers, so they are sent before the masks are filled.
    flush(true)
    for (const guide of next) {
      this.work(guide, (walk, slot) => {
        outlooks.push([guide, walk.look(this.row(slot))])
      })
      flush(false)
    }
    flush(true)
  }

  /** An error fails only this guide. */
  private work(guide: number, run: (walk: Walk, slot: number) => void): void {
    const running = this.running.get(guide)
    if (!running) return
    const kind = running.walk.options.closing ? "completion" : "mask"
    this.mark(running.owner, kind)
    try {
      this.timed(kind, () => run(running.walk, running.slot))
    } catch (error) {
      this.running.delete(guide)
      say({ kind: "failed", guide, error: packError(error) })
    }
  }

  /**
   * Runs work with a time limit. If the work reads the clock it ends by itself, and the thread need
   * not be ended.
   */
  private timed<T>(kind: "mask" | "completion", run: () => T): T {
    return withinTime(crowding.factor * data[`${kind}Ms`], run, timedWork[kind])
  }

  private row(slot: number): Uint32Array {
    const { words } = this.vocabulary
    return new Uint32Array(data.rows, 4 * slot * words, words)
  }

  private mark(owner: number, kind: UnitKindName): void {
    this.units = (this.units % 0x7fffffff) + 1
    Atomics.store(signal, UnitOwner, owner)
    Atomics.store(signal, UnitKind, unitKinds.indexOf(kind))
    Atomics.store(signal, Unit, this.units)
  }
}

/** Grammars and machines stay in their thread. */
function plain({ input, policies }: NonNullable<WalkRequest["constraint"]>): {
  input: GrammarInput
  policies: CompileOptions
} {
  if (!("kind" in input)) throw new Error("internal: the constraint has been compiled in another thread")
  return { input, policies }
}

/** Returns the bytes of this thread's objects and arrays. */
function heapBytes(): number {
  const { used_heap_size, external_memory } = getHeapStatistics()
  return used_heap_size + external_memory
}

function say(answer: FromThread): void {
  port.postMessage(answer)
  Atomics.add(signal, Answered, 1)
  Atomics.notify(signal, Answered)
}

const directory = await readModelDirectory(data.model, data.dtype)
const vocabulary = parseVocabulary(directory.tokenizerJson, directory.tokenizerConfig, {
  width: data.width,
  endIds: directory.endIds,
})
shareMachineIds(() => Atomics.add(shared, MachineCount, 1) + 1)
const server = new WalkServer(vocabulary, new Tokenizer(directory, vocabulary))
say({ kind: "ready", systemThread: ownThread })

/** Whether the last work was a step of the warm-up and no question has come since. */
let isWarming = false
let turn = 0
for (;;) {
  const seen = Atomics.load(signal, Asked)
  const lastTurn = turn
  turn = Atomics.load(shared, BusyTurn)
  if (turn !== lastTurn) isWarming = false
  const received = receiveMessageOnPort(port)
  if (received) {
    isWarming = false
    server.serve(received.message as ToThread)
    continue
  }
  const pause: number = server.isWarm ? Number.POSITIVE_INFINITY : isWarming ? 0 : pauseMs
  const isQuiet = Atomics.wait(signal, Asked, seen, pause) === "timed-out"
  isWarming = isQuiet && (turn & 1) === 0 && Atomics.load(shared, BusyTurn) === turn
  if (isWarming) server.warm()
}
