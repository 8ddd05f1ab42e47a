/**
 * Masks as text, for debugging: which lexemes a mask reads, from which places inside tokens, and
 * which tokens each of them adds. They are found by their definition, without shortcuts.
 */
import { printLexeme, printStack } from "../grammar/print.ts"
import { isAllowed } from "./bits.ts"
import type { TokenFsm } from "./fsm.ts"
import { LocalMasks } from "./local.ts"
import { MaskBuilder } from "./mask.ts"
import { idsRecipe, type Recipe, unite, writeRecipe } from "./recipe.ts"
import { Stride, type TokenTrie } from "./trie.ts"
import type { Vocabulary } from "./vocabulary.ts"

/** How many tokens, and places inside tokens, a line spells out. */
const MaxSpelled = 8

/**
 * Returns a line for the mask of `state`, and below it one for each lexeme that the mask reads:
 * where in a token it begins, its tokens, and where in longer tokens it may end. Costs as much as
 * the token trie: 0.1 to 1 s for 128,000 tokens.
 */
export function printMask({ states, vocabulary }: TokenFsm, state: number): string {
  states.enter()
  const locals = new LocalMasks(vocabulary, null)
  const builder = new MaskBuilder(states, locals)
  const { mask, unknown } = builder.build(state, locals.endIds)
  const reads = Array.from(builder.reads(), ([lexemeState, stack, list]) => {
    const { exits, ...recipe } = locals.local(list, lexemeState)
    const title = `${printLexeme(lexemeState)} ▸ ${printStack(states.stacks, stack)}`
    const lines = [
      `  after ${printPlaces(locals, list)} ${title}`,
      `    adds ${printRecipe(recipe, vocabulary)}`,
    ]
    for (let i = 0; i < exits.length; i += 2)
      lines.push(`    may end with tag ${exits[i]} after ${printPlaces(locals, exits[i + 1])}`)
    return lines.join("\n")
  })
  const tried = idsRecipe(builder.tryTokens(state, unknown))
  const triedAfter = unknown.map((list) => printPlaces(locals, list)).join(" ")
  return [
    `mask of state ${state}: ${printRecipe(unite([mask.plain, tried], vocabulary.words), vocabulary)}`,
    // Sorted, since reads come in no meaningful order.
    ...reads.sort(),
    ...(unknown.length > 0 ? [`  after ${triedAfter} tokens are tried one by one`] : []),
    ...(unknown.length > 0 ? [`    adds ${printRecipe(tried, vocabulary)}`] : []),
  ].join("\n")
}

/** Returns how many tokens `recipe` allows, and the spellings of the first ones. Cost: O(V). */
export function printRecipe(recipe: Recipe, vocabulary: Vocabulary): string {
  const row = new Uint32Array(vocabulary.words)
  writeRecipe(recipe, row)
  const tokens = Array.from({ length: vocabulary.width }, (_, id) => id).filter((id) => isAllowed(row, id))
  const spelled = tokens.map((token) => {
    const bytes = vocabulary.bytes(token)
    return bytes.length === 0 ? `#${token}` : printBytes(bytes)
  })
  return `${tokens.length} ${tokens.length === 1 ? "token" : "tokens"}${tokens.length > 0 ? ": " : ""}${listed(spelled)}`
}

/** Returns the bytes from the start of a token to each node of `list`. */
function printPlaces({ trie, lists }: LocalMasks, list: number): string {
  return listed(Array.from(lists.view(list), (node) => printBytes(pathTo(trie, node))))
}

function pathTo(trie: TokenTrie, node: number): Uint8Array {
  const bytes = new Uint8Array(trie.depth(node))
  // Nodes lie in depth-first order: the nearest one before `node` with a smaller depth is above it.
  for (let at = node, depth = bytes.length; depth > 0; at -= Stride)
    if (trie.depth(at) === depth) bytes[--depth] = trie.byte(at)
  return bytes
}

function listed(texts: readonly string[]): string {
  const more = texts.length > MaxSpelled ? [`and ${texts.length - MaxSpelled} more`] : []
  return [...texts.slice(0, MaxSpelled), ...more].join(" ")
}

function printBytes(bytes: Uint8Array): string {
  return JSON.stringify(new TextDecoder().decode(bytes))
}
