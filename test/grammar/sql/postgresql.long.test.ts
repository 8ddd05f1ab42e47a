/** PostgreSQL itself on random statements over real tables. It takes some seconds to start. */
import { PGlite } from "@electric-sql/pglite"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { sqlGrammar } from "../../../grammar/index.ts"
import { isKeyword } from "../../../grammar/sql/names.ts"
import { DeadState, States } from "../../../grammar/state.ts"
import { utf8 } from "../../../grammar/utf8.ts"
import { randomOf } from "../../support/oracle.ts"
import { randomText } from "../../support/randomtext.ts"
import { beginningsOf, createTables, databases, piecesOf } from "../../support/sql/databases.ts"

const walkCount = 700

describe("PostgreSQL", () => {
  let engine: PGlite
  beforeAll(async () => {
    engine = await PGlite.create()
  }, 120_000)
  afterAll(() => engine.close())

  test("reserves no word that is written bare", async () => {
    const { rows } = await engine.query<{ word: string }>(
      "SELECT word FROM pg_get_keywords() WHERE catcode <> 'U'",
    )
    expect(rows.length).toBeGreaterThan(100)
    expect(rows.map(({ word }) => word).filter((word) => !isKeyword(word))).toEqual([])
  })

  test("is asked for real", async () => {
    await engine.exec("CREATE TABLE asked (a int, b text)")
    const prepared = (text: string) => engine.exec(`PREPARE walk AS ${text}`)
    await expect(prepared("SELECT asked.a FROM asked WHERE asked.a = asked.b")).rejects.toThrow(
      "operator does not exist",
    )
    await expect(prepared("SELECT asked.a, COUNT(*) FROM asked GROUP BY asked.b")).rejects.toThrow("GROUP BY")
  })

  test.each(databases)("prepares random statements over %s", async (_, tables) => {
    await engine.exec(`DROP SCHEMA public CASCADE; CREATE SCHEMA public; ${createTables(tables)}`)
    const states = new States(sqlGrammar({ dialect: "postgresql", tables }))
    const pieces = piecesOf(tables, "postgresql")
    const accepts = (text: string) => states.isAccepting(states.advance(states.start, utf8(text)))
    const begins = (text: string) => states.advance(states.start, utf8(text)) !== DeadState
    const beginnings = beginningsOf(tables, accepts, begins)
    expect(beginnings.length).toBeGreaterThan(8)
    const random = randomOf(1)
    const refused: string[] = []
    for (let i = 0; i < walkCount; i++) {
      const text = randomText(states, random, 250, { pieces, begin: beginnings[i % beginnings.length] })
      try {
        await engine.exec(`PREPARE walk AS ${text.replace(/;$/, "")}`)
        await engine.exec("DEALLOCATE walk")
      } catch (error) {
        refused.push(`${(error as Error).message}: ${text}`)
      }
    }
    expect(refused).toEqual([])
  })
})
