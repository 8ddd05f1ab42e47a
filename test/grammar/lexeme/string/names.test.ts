/** Tries of names against a Map. */
import fc from "fast-check"
import { expect, test } from "vitest"
import {
  buildNames,
  ExcludedTag,
  excludedCount,
  excludedNames,
  hasUsableName,
  NoNames,
  nameBytes,
  nameChild,
  nameTag,
  newNameTag,
  withName,
} from "../../../../grammar/lexeme/string/names.ts"

const encoder = new TextEncoder()
const nameOf = fc.string({ unit: fc.constantFrom("a", "b", "é"), maxLength: 4 })
const setOf = fc.dictionary(nameOf, fc.integer({ min: 1, max: 5 }))

const trieOf = (names: ReadonlyMap<string, number>) =>
  buildNames(
    [...names]
      .map(([name, tag]) => ({ bytes: encoder.encode(name), tag }))
      .sort((a, b) => Buffer.compare(a.bytes, b.bytes)),
  )
const endOf = (node: number, name: string) =>
  encoder.encode(name).reduce((at, byte) => nameChild(at, byte), node)

test("a trie gives each name its tag, and other texts none", () => {
  fc.assert(
    fc.property(setOf, nameOf, (set, other) => {
      const names = new Map(Object.entries(set))
      const trie = trieOf(names)
      for (const name of [...names.keys(), other])
        expect(nameTag(endOf(trie, name))).toBe(names.get(name) ?? 0)
      expect(trie === NoNames).toBe(names.size === 0)
      expect(hasUsableName(trie)).toBe([...names.values()].some((tag) => tag !== ExcludedTag))
      const excluded = [...excludedNames(trie)].map((bytes) => new TextDecoder().decode(bytes))
      expect(excluded.sort()).toEqual(
        [...names].flatMap(([name, tag]) => (tag === ExcludedTag ? [name] : [])).sort(),
      )
      const first = nameBytes(trie)
      expect(first).toEqual([...first].sort((a, b) => a - b))
      expect(new Set(first)).toEqual(
        new Set([...names.keys()].flatMap((name) => [...encoder.encode(name).subarray(0, 1)])),
      )
    }),
    { seed: 1, numRuns: 500 },
  )
})

test("equal sets are one integer, however they were made; the old set stays", () => {
  fc.assert(
    fc.property(setOf, nameOf, fc.integer({ min: 0, max: 5 }), (set, name, tag) => {
      const names = new Map(Object.entries(set))
      const before = trieOf(names)
      const after = withName(before, encoder.encode(name), tag)
      const expected = new Map(names)
      if (tag === 0) expected.delete(name)
      else expected.set(name, tag)
      expect(after).toBe(trieOf(expected))
      expect(nameTag(endOf(before, name))).toBe(names.get(name) ?? 0)
      let grown = NoNames
      for (const [each, eachTag] of names) grown = withName(grown, encoder.encode(each), eachTag)
      expect(grown).toBe(before)
    }),
    { seed: 2, numRuns: 500 },
  )
})

test("a name may be longer than calls may nest", () => {
  const name = new Uint8Array(100_000).fill(0x61)
  const long = { bytes: name, tag: 3 }
  const trie = buildNames([{ bytes: name.subarray(0, 2), tag: ExcludedTag }, long])
  expect(nameTag(name.reduce(nameChild, trie))).toBe(3)
  const excluded = withName(trie, name, ExcludedTag)
  expect(excludedNames(excluded).map((bytes) => bytes.length)).toEqual([2, 100_000])
  expect(withName(excluded, name, 3)).toBe(trie)
  expect(hasUsableName(excluded)).toBe(false)
})

test("a name with a tag of its own is one trie, made before or with others", () => {
  for (const name of ["", "a", "größe", "a longer name", "name", "rename"]) {
    const bytes = encoder.encode(name)
    const tag = newNameTag(bytes)
    const alone = buildNames([{ bytes, tag }])
    expect(alone).toBe(tag + bytes.length)
    expect(withName(NoNames, bytes, tag)).toBe(alone)
    expect(nameTag(endOf(alone, name))).toBe(tag)
    expect([hasUsableName(alone), excludedCount(alone)]).toEqual([true, 0])
    const other = { bytes: encoder.encode("zz"), tag: newNameTag(encoder.encode("zz")) }
    const both = buildNames([{ bytes, tag }, other])
    expect(withName(both, other.bytes, 0)).toBe(alone)
    expect(excludedCount(withName(both, bytes, ExcludedTag))).toBe(1)
  }
})
