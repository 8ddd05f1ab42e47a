/**
 * Ollama's client for Python, unmodified, with functions as tools and Pydantic's schemas. `PYTHON`
 * names a Python with the package `ollama`; without one the test is skipped.
 */
import { spawnSync } from "node:child_process"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type Engine, open } from "../../runtime/index.ts"
import { createApp, type RunningServer, serve } from "../../server/index.ts"
import { shell } from "../support/program.ts"

const python = process.env.PYTHON ?? "python3"
const isThere = spawnSync(python, ["-c", "import ollama"]).status === 0

let engine: Engine
let server: RunningServer
beforeAll(async () => {
  engine = await open({ device: "cpu" })
  server = await serve(createApp(engine, { aliases: ["llama3.2"], ollama: true }), { port: 0 })
})
afterAll(async () => {
  await server.close()
  await engine.close()
})

const program = `
import asyncio, json, sys
from ollama import AsyncClient, Client, ResponseError
from pydantic import BaseModel, Field

class Person(BaseModel):
    name: str = Field(max_length=16)
    age: int = Field(ge=0, le=120)

def add(a: int, b: int) -> int:
    """Add two numbers.

    Args:
        a: The first number
        b: The second number
    """
    return a + b

host = sys.argv[1]
client = Client(host=host)
model = "llama3.2"
messages = [{"role": "user", "content": "Invent a person."}]

names = [each.model for each in client.list().models]
assert names == ["tokenrail-embedded:latest", "llama3.2:latest"], names
shown = client.show(model)
assert shown.capabilities == ["completion", "tools"] and shown.modelinfo["llama.context_length"] == 2048, shown
assert client.ps().models[0].context_length == 2048

schema = Person.model_json_schema()
whole = client.chat(model=model, messages=messages, format=schema, options={"seed": 5})
person = Person.model_validate_json(whole.message.content)
assert whole.done_reason == "stop" and whole.eval_count > 0 and whole.total_duration > 0, whole
parts = client.chat(model=model, messages=messages, format=schema, options={"seed": 5}, stream=True)
assert "".join(part.message.content for part in parts) == whole.message.content
Person.model_validate_json(client.generate(model=model, prompt="Invent a person.", format=schema).response)

called = client.chat(model=model, messages=[{"role": "user", "content": "Call add with 1 and 2."}], tools=[add], options={"num_predict": 120, "seed": 1})
assert called.done, called
history = [
    {"role": "user", "content": "1 + 2?"},
    {"role": "assistant", "tool_calls": [{"function": {"name": "add", "arguments": {"a": 1, "b": 2}}}]},
    {"role": "tool", "tool_name": "add", "content": str(add(1, 2))},
]
assert client.chat(model=model, messages=history, tools=[add], options={"num_predict": 5}).done

try:
    client.chat(model="mistral", messages=messages)
    raise AssertionError("no error")
except ResponseError as error:
    assert error.status_code == 404 and "model 'mistral' not found" in error.error, error

async def stream():
    parts = await AsyncClient(host=host).chat(model=model, messages=messages, format=schema, stream=True)
    return "".join([part.message.content async for part in parts])

Person.model_validate_json(asyncio.run(stream()))
print("ok")
`

test.skipIf(!isThere)("ollama client for Python (needs the package ollama)", async () => {
  const { code, out, err } = await shell(`"$PYTHON" -c "$PROGRAM" ${server.url}`, {
    PYTHON: python,
    PROGRAM: program,
  })
  expect(code, err).toBe(0)
  expect(out).toBe("ok\n")
})
