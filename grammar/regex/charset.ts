/**
 * Translates character classes from regexpp's nodes to sets of code points, and of strings in the
 * `v` mode.
 *
 * Under `i`, the `u` mode matches a character if it is equal to a member of the class after
 * folding: the closure is taken of the whole class, before a `[^`. The `v` mode folds every
 * operand, so that `&&`, `--` and complements work on folded sets.
 */
import type { AST } from "@eslint-community/regexpp"
import { GrammarError } from "../errors.ts"
import { errorPath } from "./place.ts"
import { type CodePointRanges, complement, intersect, makeRanges, subtract } from "./ranges.ts"
import type { RegexFlags } from "./read.ts"
import {
  digits,
  foldClosure,
  lineFeed,
  lineTerminators,
  propertyRanges,
  whiteSpace,
  wordCharacters,
} from "./unicode.ts"

/** A set of characters, and in the `v` mode of texts with no or several characters. */
export interface CharSet {
  ranges: CodePointRanges
  strings: readonly string[]
}

type SetNode =
  | AST.Character
  | AST.CharacterSet
  | AST.CharacterClass
  | AST.CharacterClassRange
  | AST.ExpressionCharacterClass
  | AST.ClassIntersection
  | AST.ClassSubtraction
  | AST.ClassStringDisjunction

/** Returns what a character, class or escape matches. */
export function charSetOf(node: SetNode, flags: RegexFlags, path: string): CharSet {
  const set = readSet(node, flags, path)
  return flags.ignoreCase ? { ranges: foldClosure(set.ranges), strings: set.strings } : set
}

/**
 * Returns the word characters of `\w` and `\b`; under `i` also those that are equal to one after
 * folding.
 */
export function wordRanges(flags: RegexFlags): CodePointRanges {
  return flags.ignoreCase ? foldClosure(wordCharacters) : wordCharacters
}

function plain(ranges: CodePointRanges): CharSet {
  return { ranges, strings: [] }
}

function readSet(node: SetNode, flags: RegexFlags, path: string): CharSet {
  // In the `v` mode every operand is closed, so that set operations work on whole folding classes.
  const close = (ranges: CodePointRanges) =>
    flags.ignoreCase && flags.unicodeSets ? foldClosure(ranges) : ranges
  switch (node.type) {
    case "Character":
      return plain(close([node.value, node.value]))
    case "CharacterClassRange":
      return plain(close([node.min.value, node.max.value]))
    case "CharacterSet":
      return readEscape(node, flags, path, close)
    case "CharacterClass": {
      const sets = node.elements.map((element) => readSet(element, flags, path))
      const ranges = makeRanges(sets.flatMap((set) => set.ranges))
      const strings = [...new Set(sets.flatMap((set) => set.strings))]
      return node.negate
        ? plain(complement(flags.ignoreCase ? foldClosure(ranges) : ranges))
        : { ranges, strings }
    }
    case "ExpressionCharacterClass": {
      const set = readSet(node.expression, flags, path)
      return node.negate ? plain(complement(set.ranges)) : set
    }
    case "ClassIntersection": {
      const [left, right] = [readSet(node.left, flags, path), readSet(node.right, flags, path)]
      return {
        ranges: intersect(left.ranges, right.ranges),
        strings: left.strings.filter((text) => right.strings.includes(text)),
      }
    }
    case "ClassSubtraction": {
      const [left, right] = [readSet(node.left, flags, path), readSet(node.right, flags, path)]
      return {
        ranges: subtract(left.ranges, right.ranges),
        strings: left.strings.filter((text) => !right.strings.includes(text)),
      }
    }
    case "ClassStringDisjunction": {
      const texts = node.alternatives.map(({ elements }) => elements.map(({ value }) => value))
      const single = texts.filter((points) => points.length === 1).flatMap(([point]) => [point, point])
      const strings = texts.filter((points) => points.length !== 1)
      return {
        ranges: close(makeRanges(single)),
        strings: strings.map((points) =>
          String.fromCodePoint(...(flags.ignoreCase ? points.map(folded) : points)),
        ),
      }
    }
  }
}

/**
 * Returns the least character that is equal to `point` after folding. Strings are compared by it.
 */
function folded(point: number): number {
  return foldClosure([point, point])[0]
}

function readEscape(
  node: AST.CharacterSet,
  flags: RegexFlags,
  path: string,
  close: (ranges: CodePointRanges) => CodePointRanges,
): CharSet {
  switch (node.kind) {
    case "any":
      if (flags.dotAll) return plain([0, 0x10ffff])
      return plain(complement(flags.lineFeedOnly ? lineFeed : lineTerminators))
    case "digit":
      return plain(node.negate ? complement(digits) : digits)
    case "space":
      return plain(node.negate ? complement(whiteSpace) : whiteSpace)
    case "word": {
      const word = wordRanges(flags)
      return plain(node.negate ? complement(word) : word)
    }
    case "property": {
      const name = node.value === null ? node.key : `${node.key}=${node.value}`
      if (node.strings) {
        throw new GrammarError(
          "unsupported",
          errorPath(path, node.start),
          `property of strings ${node.raw} at ${node.start}: list its strings in \\q{…}`,
        )
      }
      const ranges = close(knownProperty(name, node, path))
      return plain(node.negate ? complement(ranges) : ranges)
    }
  }
}

function knownProperty(name: string, node: AST.CharacterSet, path: string): CodePointRanges {
  try {
    return propertyRanges(name)
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError)) throw thrown
    throw new GrammarError(
      "unsupported",
      errorPath(path, node.start),
      `property ${node.raw} at ${node.start} is unknown to the Unicode version of this process. Write the ranges`,
    )
  }
}
