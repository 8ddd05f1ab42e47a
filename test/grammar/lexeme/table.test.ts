/** The table of lexeme states against the rows that a kind of our own describes. */
import { expect, test } from "vitest"
import { Dead, type LexemeKind, LexemeTable } from "../../../grammar/lexeme/table.ts"

const edgeBytes = (table: LexemeTable, state: number) =>
  Array.from({ length: table.edgeCount(state) }, (_, i) => table.edgeByte(state, i))

/** Numbers below `modulus` as states: byte b leads to (a + b) mod it; 0 accepts with tag 1 + (modulus mod 3). */
function counting(modulus: number): { table: LexemeTable; state: (a: number) => number; expanded: number[] } {
  const table = new LexemeTable()
  const expanded: number[] = []
  const kind = table.register({
    tag: (a) => (a === 0 ? 1 + (modulus % 3) : 0),
    expand(a, _b, _c, row) {
      expanded.push(a)
      for (let byte = 0; byte < 256; byte++)
        if (byte < modulus) row.targets[byte] = table.state(kind, (a + byte) % modulus)
    },
  })
  return { table, state: (a) => table.state(kind, a), expanded }
}

test.each([[3], [16], [17], [200]])(
  "narrow and wide rows lead where their kind says: %s live bytes",
  (modulus) => {
    const { table, state, expanded } = counting(modulus)
    for (let a = 0; a < modulus; a++) {
      for (let byte = 0; byte < 256; byte++)
        expect(table.next(state(a), byte)).toBe(byte < modulus ? state((a + byte) % modulus) : Dead)
      expect(table.tags[state(a)]).toBe(a === 0 ? 1 + (modulus % 3) : 0)
      expect(table.canContinue(state(a))).toBe(true)
    }
    // Every state once, when it is first asked.
    expect(expanded).toEqual([...expanded].sort((a, b) => a - b))
    expect(expanded).toHaveLength(modulus)
    const isNarrow = modulus <= 16
    expect(table.base(state(1))).toBe(isNarrow ? Dead : -1)
    expect(edgeBytes(table, state(1))).toEqual(
      isNarrow ? Array.from({ length: modulus }, (_, byte) => byte) : [],
    )
  },
)

test("the dead state leads nowhere and has no tag", () => {
  const { table } = counting(3)
  expect([table.next(Dead, 0x61), table.tags[Dead], table.canContinue(Dead)]).toEqual([Dead, 0, false])
})

test("edges over a base: on every other byte the base decides", () => {
  const table = new LexemeTable()
  const end = table.register({
    tag: (a) => a,
    expand(_a, _b, _c, row) {
      row.bytes = []
    },
  })
  const base = table.register({
    tag: () => 0,
    expand(_a, _b, _c, row) {
      for (let byte = 0x61; byte <= 0x7a; byte++) row.targets[byte] = table.state(end, 1)
    },
  })
  const over = table.register({
    tag: () => 0,
    expand(a, _b, _c, row) {
      row.base = table.state(base, 0)
      row.bytes = [0x62, 0x63]
      row.targets[0x62] = table.state(end, a)
      row.targets[0x63] = Dead
    },
  })
  const state = table.state(over, 7)
  expect(table.base(state)).toBe(table.state(base, 0))
  expect(edgeBytes(table, state)).toEqual([0x62, 0x63])
  const tagOf = (byte: number) => table.tags[table.next(state, byte)]
  expect([0x61, 0x62, 0x63, 0x7b].map(tagOf)).toEqual([1, 7, 0, 0])
  expect(table.next(state, 0x63)).toBe(Dead)
})

test("kinds may look at other states while they fill their own", () => {
  const table = new LexemeTable()
  const kind = table.register({
    tag: (a) => (a === 0 ? 1 : 0),
    expand(a, _b, _c, row) {
      const inner = a > 1 ? table.next(table.state(kind, a - 2), 0x61) : Dead
      row.targets[0x61] = a === 0 ? Dead : table.state(kind, a - 1)
      row.targets[0x62] = inner
      for (let byte = 0x63; byte < 0x63 + (a % 40); byte++) row.targets[byte] = row.targets[0x61]
    },
  })
  for (let a = 0; a < 3_000; a++) {
    expect(table.next(table.state(kind, a), 0x61)).toBe(a === 0 ? Dead : table.state(kind, a - 1))
    expect(table.next(table.state(kind, a), 0x62)).toBe(a > 2 ? table.state(kind, a - 3) : Dead)
  }
})

test("a state is described by its kind alone, and the kind is the one that was registered", () => {
  const table = new LexemeTable()
  const own: LexemeKind = { tag: () => 1, expand: () => {} }
  const kind = table.register(own)
  const other = table.register({ tag: () => 1, expand: () => {} })
  const state = table.state(kind, 90, 2, 3)
  expect([...table.describe(kind, state)!]).toEqual([kind, 90, 2, 3])
  expect(table.describe(other, state)).toBeNull()
  expect([...table.partsOf(state)]).toEqual([kind, 90, 2, 3])
  expect([table.kindOf(state), table.kindOf(Dead)]).toEqual([own, undefined])
})

test("the tag behind a text is that of its last state, also where reading it makes the table of tags anew", () => {
  const table = new LexemeTable()
  const kind = table.register({
    tag: (a) => 1 + (a % 7),
    expand(a, _b, _c, row) {
      row.bytes = [0x61]
      row.targets[0x61] = table.state(kind, a + 1)
    },
  })
  const start = table.state(kind, 0)
  const tags = Array.from({ length: 5_000 }, (_, n) =>
    table.tagAfter(table.run(start, Buffer.alloc(n, 0x61)), [0x61]),
  )
  expect(tags).toEqual(tags.map((_, n) => 1 + ((n + 1) % 7)))
})
