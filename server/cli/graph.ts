/**
 * `compile --graph <file>`: the states of a constraint as a picture. With `--vocab` the edges are
 * tokens, else characters.
 */
import type { Command } from "commander"
import { type TokenMachine, walkStates } from "../../runtime/index.ts"
import { outline } from "../graph/outline.ts"
import { graphSvg, summary } from "../graph/svg.ts"
import { UsageError, writeText } from "./exit.ts"
import { wholeNumber } from "./model.ts"

export interface GraphFlags {
  graph?: string
  graphStates: number
}

/** The layout takes a few seconds for so many states. */
const mostStates = 500
/**
 * States of the machine that are visited for each drawn one: most lie inside texts and characters.
 */
const visitedPerDrawn = 30

/** Adds `--graph` and `--graph-states` to a command. */
export function graphFlags(command: Command): Command {
  return command
    .option("--graph <file>", "draw the states, and what leads from one to another, as an SVG picture")
    .option("--graph-states <n>", "states that --graph draws, nearest to the start", wholeNumber, 100)
}

/** Describes the written picture. */
export interface Drawn {
  file: string
  /** States and edges in the picture. */
  states: number
  edges: number
  /** Whether no state is missing. */
  isWhole: boolean
  summary: string
}

/** Throws `UsageError` if the flags cannot be followed. */
export function checkGraphFlags({ graph, graphStates }: GraphFlags): void {
  if (graph === undefined) return
  if (graphStates < 1 || graphStates > mostStates)
    throw new UsageError(`--graph-states ${graphStates}: give a number from 1 to ${mostStates}`)
}

/** Draws `machine` into a file. `unit` says whether its vocabulary is that of bytes. */
export async function drawGraph(
  machine: TokenMachine,
  unit: "characters" | "tokens",
  { graph: file, graphStates: maxStates }: GraphFlags,
  maskMs: number,
): Promise<Drawn> {
  const graph = walkStates(machine, { maxStates: maxStates * visitedPerDrawn, maskMs })
  const drawn = outline(graph, machine.vocabulary, unit, maxStates)
  const svg = graphSvg(drawn, `States of a constraint, by ${unit}`)
  await writeText(file!, svg)
  const { states, edges, isWhole } = drawn
  return { file: file!, states: states.length, edges: edges.length, isWhole, summary: summary(drawn) }
}
