/** What is remembered, for whom, and what goes first. */
import { expect, test } from "vitest"
import { ResponseStore, type StoredResponse } from "../../../../server/openai/responses/store.ts"

function stored(id: string, text = "x"): StoredResponse {
  const message = { type: "message", id: `msg_${id}`, role: "assistant", content: text } as const
  const asked = { type: "message", id: `in_${id}`, role: "user", content: "hi" } as const
  return {
    response: { id, status: "completed", output: [message] },
    input: [asked],
    previousId: null,
    ownIds: [asked.id, message.id],
  }
}

test("a response and its items are found by their ids, until it is deleted", () => {
  const scope = new ResponseStore().of(-1)
  scope.put(stored("a"))
  scope.put(stored("b", "y"))
  expect(scope.get("a")?.response.id).toBe("a")
  expect(scope.item("msg_b")).toMatchObject({ content: "y" })
  expect(scope.item("in_b")).toMatchObject({ content: "hi" })
  expect([scope.delete("b"), scope.delete("b")]).toEqual([true, false])
  expect([scope.get("b"), scope.item("msg_b"), scope.item("in_b")]).toEqual([undefined, undefined, undefined])
  expect(scope.item("msg_a")).toBeDefined()
})

test("another key finds nothing", () => {
  const store = new ResponseStore()
  store.of(0).put(stored("a"))
  const end = store.of(0).begin("r", { response: stored("r").response, cancel: () => {} })
  const other = store.of(1)
  expect([other.get("a"), other.item("msg_a"), other.delete("a"), other.running("r")]).toEqual([
    undefined,
    undefined,
    false,
    undefined,
  ])
  expect(store.of(0).running("r")).toBeDefined()
  end()
  expect(store.of(0).running("r")).toBe(undefined)
})

test("the least recently used goes first, and its items with it", () => {
  const scope = new ResponseStore({ maxCount: 2 }).of(0)
  scope.put(stored("a"))
  scope.put(stored("b"))
  expect(scope.item("msg_a")).toBeDefined()
  scope.put(stored("c"))
  expect([scope.get("a"), scope.get("b"), scope.get("c")].map((each) => each !== undefined)).toEqual([
    true,
    false,
    true,
  ])
  expect(scope.item("msg_b")).toBe(undefined)
})

test("texts count by two bytes a unit, and what is too large alone is not kept", () => {
  const scope = new ResponseStore({ maxBytes: 5_000 }).of(0)
  for (const id of ["a", "b", "c"]) scope.put(stored(id, "x".repeat(500)))
  expect([scope.get("a"), scope.get("b"), scope.get("c")].map((each) => each !== undefined)).toEqual([
    false,
    true,
    true,
  ])
  scope.put(stored("d", "x".repeat(3_000)))
  expect([scope.get("d"), scope.item("msg_d")]).toEqual([undefined, undefined])
})

test("where there is no room, the key that holds most gives way", () => {
  const store = new ResponseStore({ maxBytes: 10_000 })
  store.of(0).put(stored("mine", "x".repeat(500)))
  for (let i = 0; i < 50; i++) store.of(1).put(stored(`flood${i}`, "x".repeat(500)))
  expect(store.of(0).get("mine")).toBeDefined()
  expect(store.of(1).get("flood0")).toBe(undefined)
  expect(store.of(1).get("flood49")).toBeDefined()
})
