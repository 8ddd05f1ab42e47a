import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Command, Option } from "commander"
import { expect, test } from "vitest"
import { UsageError } from "../../../server/cli/exit.ts"
import { wholeNumber } from "../../../server/cli/model.ts"
import { serveCommand } from "../../../server/cli/serve.ts"
import { applySettings } from "../../../server/cli/settings.ts"
import { ioOf } from "../../support/io.ts"

const directory = mkdtempSync(join(tmpdir(), "settings-"))

interface Sources {
  args?: string[]
  env?: Record<string, string>
  /** Of the file. */
  toml?: string
}

/** Flags as a command of all kinds of them has them, and what the environment holds that is none. */
async function read({ args = [], env = {}, toml }: Sources): Promise<[flags: object, strangers: string[]]> {
  const command = new Command("serve")
    .option("--port <n>", "", wholeNumber, 8080)
    .option("--host <address>", "", "127.0.0.1")
    .option("--alias <name...>", "")
    .option("--api-key <key...>", "")
    .option("--any-model", "")
    .option("--max-body <bytes>", "", wholeNumber)
    .addOption(new Option("--on-length <what>", "").choices(["truncate", "close"]))
    .option("--config <file>", "")
    .exitOverride()
  const file = join(directory, "serve.toml")
  if (toml !== undefined) writeFileSync(file, toml)
  command.parse([...(toml === undefined ? [] : ["--config", file]), ...args], { from: "user" })
  const strangers = await applySettings(command, ioOf({ env }))
  const { config, ...flags } = command.opts()
  return [flags, strangers]
}

const defaults = { port: 8080, host: "127.0.0.1" }

test.each<[name: string, sources: Sources, flags: object]>([
  ["nothing is the defaults", {}, {}],
  [
    "the environment has names in capitals",
    { env: { TOKENRAIL_PORT: "1", TOKENRAIL_MAX_BODY: " 2 ", TOKENRAIL_ON_LENGTH: "close" } },
    { port: 1, maxBody: 2, onLength: "close" },
  ],
  ["what is empty is not set", { env: { TOKENRAIL_PORT: "", TOKENRAIL_API_KEY: " \t" } }, {}],
  [
    "lists are separated by commas, but a key is a key",
    { env: { TOKENRAIL_ALIAS: "a, b,,c", TOKENRAIL_API_KEY: " x,y " } },
    { alias: ["a", "b", "c"], apiKey: ["x,y"] },
  ],
  ["a switch is on", { env: { TOKENRAIL_ANY_MODEL: "1" } }, { anyModel: true }],
  ["a switch is off", { env: { TOKENRAIL_ANY_MODEL: "False" } }, {}],
  [
    "the file has the names of flags",
    {
      toml: `# A comment.\nport = 3\n"max-body" = "4"\nalias = [\n  "a",\n  "b", # another\n]\nany-model = true\napi-key = "k"`,
    },
    { port: 3, maxBody: 4, alias: ["a", "b"], anyModel: true, apiKey: ["k"] },
  ],
  ["a switch that the file turns off", { toml: "any-model = false" }, {}],
  [
    "the flag wins over the environment, which wins over the file",
    {
      ...{ args: ["--port", "1"], env: { TOKENRAIL_PORT: "2", TOKENRAIL_HOST: "b" } },
      toml: 'port = 3\nhost = "c"\non-length = "close"',
    },
    { port: 1, host: "b", onLength: "close" },
  ],
  [
    "a switch that the environment turns off stays off, whatever the file says",
    { env: { TOKENRAIL_ANY_MODEL: "0" }, toml: "any-model = true" },
    {},
  ],
])("%s", async (_, sources, flags) => {
  expect(await read(sources)).toEqual([{ ...defaults, ...flags }, []])
})

test.each<[name: string, sources: Sources, message: RegExp]>([
  [
    "a number",
    { env: { TOKENRAIL_PORT: "x" } },
    /^TOKENRAIL_PORT: "x" is not a valid value: must be a whole/,
  ],
  ["a choice", { env: { TOKENRAIL_ON_LENGTH: "x" } }, /^TOKENRAIL_ON_LENGTH: "x" is .* truncate, close/],
  ["a switch", { env: { TOKENRAIL_ANY_MODEL: "maybe" } }, /^TOKENRAIL_ANY_MODEL: maybe is neither true nor/],
  [
    "an unknown name",
    { toml: "port = 1\n\n# x\nmax-boddy = 1" },
    /serve\.toml:4: max-boddy is not a setting of/,
  ],
  [
    "another spelling",
    { toml: "max_body = 1" },
    /serve\.toml:1: max_body is not a setting .*: write max-body$/,
  ],
  ["a table", { toml: 'host = "a"\n[limits]\nmax-body = 1' }, /serve\.toml:2: limits is not a setting/],
  ["a file in a file", { toml: 'config = "other.toml"' }, /serve\.toml:1: config is not a setting of serve:/],
  ["behind a list", { toml: 'alias = [\n"port = 1",\n"b"]\n\nport = "x"' }, /serve\.toml:5: port: "x" is no/],
  ["in a text", { toml: 'host = """\nnope = 1\n"""\nnope = [\n1]' }, /serve\.toml:4: nope is not a setting/],
  ["a fraction", { toml: "port = 1.5" }, /serve\.toml:1: port: "1\.5" is not a valid value: must be a whole/],
  ["a wrong type", { toml: "port = true" }, /serve\.toml:1: port: true is not a number or a text/],
  ["a number for a text", { toml: "host = 5" }, /serve\.toml:1: host: 5 is not a text/],
  ["a text for a switch", { toml: 'any-model = "true"' }, /any-model: "true" is not true or false/],
  ["a list of numbers", { toml: "alias = [1]" }, /alias: \[1\] is not a list of texts/],
  ["no TOML", { toml: "port = 1\nhost = \n" }, /serve\.toml:2:8: /],
  ["a key twice", { toml: "port = 1\nport = 2" }, /serve\.toml:2:\d+: /],
  ["wrong, though a flag wins", { args: ["--port", "1"], toml: 'port = "x"' }, /serve\.toml:1: port: "x"/],
  ["no file", { args: ["--config", "no/such.toml"] }, /^cannot read no\/such\.toml: .*--config takes a TOML/],
  ["no file in the environment", { env: { TOKENRAIL_CONFIG: "no/such.toml" } }, /^cannot read no\/such/],
])("%s is refused with its place", async (_, sources, message) => {
  const refusal = await read(sources).catch((error: unknown) => error)
  expect(refusal).toBeInstanceOf(UsageError)
  expect((refusal as Error).message).toMatch(message)
})

test("names in the environment that no flag has are reported", async () => {
  const env = { TOKENRAIL_APIKEY: "x", TOKENRAIL_PORT: "1", HOME: "/" }
  expect(await read({ env })).toEqual([{ ...defaults, port: 1 }, ["TOKENRAIL_APIKEY"]])
})

test("every flag of serve can be set both ways", async () => {
  const samples: Record<string, [text: string, toml: string]> = {
    dtype: ["q4", '"q4"'],
    device: ["cpu", '"cpu"'],
    "model-runtime": ["web", '"web"'],
    batching: ["fast", '"fast"'],
    "on-length": ["close", '"close"'],
    "log-level": ["warn", '"warn"'],
  }
  const serve = (): Command => {
    const program = new Command()
    serveCommand(program, ioOf(), () => {})
    const [command] = program.commands
    return command.action(() => {}).parse([], { from: "user" })
  }
  const flags = serve().options.filter(({ long }) => long !== "--config")
  expect(flags.length).toBeGreaterThanOrEqual(30)
  for (const option of flags) {
    const name = option.long!.slice(2)
    const isSwitch = option.isBoolean()
    const [text, toml] = samples[name] ?? (isSwitch ? ["true", "true"] : ["7", '"7"'])
    const byEnvironment = serve()
    await applySettings(
      byEnvironment,
      ioOf({ env: { [`TOKENRAIL_${name.replaceAll("-", "_").toUpperCase()}`]: text } }),
    )
    const file = join(directory, "one.toml")
    writeFileSync(file, `${name} = ${toml}`)
    const byFile = serve()
    await applySettings(byFile, ioOf({ env: { TOKENRAIL_CONFIG: file } }))
    const key = option.attributeName()
    expect(byEnvironment.opts()[key], name).not.toEqual(serve().opts()[key])
    expect(byFile.opts()[key], name).toEqual(byEnvironment.opts()[key])
  }
})
