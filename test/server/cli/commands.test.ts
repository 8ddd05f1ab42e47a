/** Help and completion of all commands. */
import { spawnSync } from "node:child_process"
import type { Command } from "commander"
import { expect, test } from "vitest"
import { createProgram } from "../../../server/cli/commands.ts"
import { ioOf } from "../../support/io.ts"

/** The program, and what it has printed. */
function opened(): { program: Command; printed: () => string } {
  let text = ""
  const write = (part: string) => {
    text += part
  }
  const program = createProgram({ ...ioOf(), out: write }, () => {})
  for (const each of [program, ...program.commands])
    each.exitOverride().configureOutput({ writeOut: write, writeErr: write, getOutHelpWidth: () => 80 })
  return { program, printed: () => text }
}

const names = opened().program.commands.map((command) => command.name())

/** The help of a command, as --help prints it. */
function helpOf(name: string): string {
  const { program, printed } = opened()
  expect(() => program.parse([...(name === "" ? [] : [name]), "--help"], { from: "user" })).toThrow()
  return printed()
}

/** The words of a command line in a shell. */
function wordsOf(line: string): string[] {
  const { stdout } = spawnSync("sh", ["-c", `printf '%s\\n' ${line.replace(/ < .*$/, "")}`], {
    encoding: "utf8",
  })
  return stdout.trimEnd().split("\n").slice(1)
}

test("the list of commands has groups and at most 80 columns", () => {
  const help = helpOf("")
  expect(help).toMatch(/\nAnswers:\n {2}serve/)
  expect(help.split("\n").filter((line) => line.length > 80)).toEqual([])
})

test.each(names)("%s --help: at most 80 columns, and examples that parse", async (name) => {
  const help = helpOf(name)
  expect(help.split("\n").filter((line) => line.length > 80)).toEqual([])
  const lines = [...help.matchAll(/^ {2}(tokenrail .*)$/gm)].map(([, line]) => line)
  expect(lines.length).toBeGreaterThan(0)
  for (const line of lines) {
    const { program } = opened()
    let hasRun = false
    for (const command of program.commands)
      command.action(() => {
        hasRun = true
      })
    await program.parseAsync(wordsOf(line), { from: "user" })
    expect(hasRun, line).toBe(true)
  }
})

function script(shell: string): string {
  const { program, printed } = opened()
  program.parse(["completion", shell], { from: "user" })
  return printed()
}

const has = (shell: string) => spawnSync(shell, ["--version"]).status === 0

/** What bash offers for a line whose last word is being typed. */
function offered(words: readonly string[]): string[] {
  const program = `${script("bash")}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}
_tokenrail; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout, stderr } = spawnSync("bash", ["-c", program], { encoding: "utf8" })
  expect(stderr).toBe("")
  return stdout.split("\n").filter((line) => line !== "")
}

test.runIf(has("bash"))("bash completes commands, flags and choices", () => {
  expect(offered(["tokenrail", ""])).toEqual(expect.arrayContaining(names))
  expect(offered(["tokenrail", "com"])).toEqual(["compile", "completion"])
  expect(offered(["tokenrail", "generate", "--temp"])).toEqual(["--temperature"])
  expect(offered(["tokenrail", "generate", "--device", ""])).toEqual(["auto", "gpu", "cpu"])
  expect(offered(["tokenrail", "completion", "z"])).toEqual(["zsh"])
  // Files, which bash adds itself.
  expect(offered(["tokenrail", "compile", "--schema", ""])).toEqual([])
  const { stdout } = spawnSync("bash", ["-c", `${script("bash")}complete -p tokenrail`], { encoding: "utf8" })
  expect(stdout).toBe("complete -o default -F _tokenrail tokenrail\n")
})

test("every flag is in the script of each shell", () => {
  for (const command of opened().program.commands) {
    for (const { long, hidden } of command.options) {
      if (hidden || !long) continue
      expect(script("bash")).toContain(long)
      expect(script("zsh")).toContain(`'*${long}[`)
      expect(script("fish")).toContain(` -l ${long.slice(2)} `)
    }
  }
})

test.runIf(has("zsh"))("zsh reads its script (needs zsh)", () => {
  const input = `autoload -U compinit; compinit -D\n${script("zsh")}print $_comps[tokenrail]`
  const { stdout, stderr } = spawnSync("zsh", ["-f", "-c", input], { encoding: "utf8" })
  expect([stderr, stdout.trim()]).toEqual(["", "_tokenrail"])
})

test.runIf(has("fish"))("fish completes choices (needs fish)", () => {
  const input = `${script("fish")}complete -C 'tokenrail generate --device '`
  const { stdout } = spawnSync("fish", ["-N", "-c", input], { encoding: "utf8" })
  expect(stdout.split("\n")).toEqual(expect.arrayContaining(["auto", "gpu", "cpu"]))
})
