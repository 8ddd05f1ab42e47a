import { test } from "vitest"
import { sqlGrammar } from "../../../grammar/index.ts"
import { States } from "../../../grammar/state.ts"
import { utf8 } from "../../../grammar/utf8.ts"
const cols = (n: number) => Array.from({ length: n }, (_, i) => ({ name: `c${i}`, type: ["int", "text", "date", "numeric", "boolean"][i % 5] }))
const chain = (n: number) => Array.from({ length: n }, (_, i) => ({ name: `table${i}`, columns: cols(10), foreignKeys: i > 0 ? [{ column: "c0", references: { table: `table${i >> 1}`, column: "c0" } }].filter((k) => k.references.table !== `table${i}`) : [] }))
const free = (n: number) => Array.from({ length: n }, (_, i) => ({ name: `table${i}`, columns: cols(8) }))
test("x", () => {
  for (const [name, tables] of [["warm", free(2)], ["chain 12", chain(12)], ["chain 25", chain(25)], ["free 6", free(6)], ["free 10", free(10)]] as const)
    for (const dialect of ["sqlite", "postgresql"] as const) {
      const a = performance.now()
      try {
      const g = sqlGrammar({ dialect, tables })
      const b = performance.now()
      const s = new States(g)
      const text = "SELECT table1.c1, COUNT(*) AS n FROM table1 JOIN table0 ON table0.c0 = table1.c0 WHERE table1.c0 > 3 AND EXISTS (SELECT 1 FROM table2 WHERE table2.c0 = table1.c0) GROUP BY table1.c1 HAVING COUNT(*) > 3 ORDER BY COUNT(*) DESC LIMIT 3"
      let state = s.start, max = s.threadCount(state)
      for (const byte of utf8(text)) { state = s.advance(state, Uint8Array.of(byte)); max = Math.max(max, s.threadCount(state)) }
      console.log(name, dialect, "compile", Math.round(b - a), "read", Math.round(performance.now() - b), "ok", s.isAccepting(state), "threads", max, "steps", g.start.length)
      } catch (e) { console.log(name, dialect, (e as Error).message, Math.round(performance.now() - a)) }
    }
}, 500000)
