/**
 * `tokenrail completion`: prints a script that completes command lines in bash, zsh or fish.
 *
 * The script is made from the commands, flags and choices that the program has, so it is that of
 * the installed version.
 */
import { Argument, type Command, type Option } from "commander"
import { Exit, type Io } from "./exit.ts"
import { examples } from "./helptext.ts"

const shells = ["bash", "zsh", "fish"] as const
type Shell = (typeof shells)[number]

export function completionCommand(program: Command, io: Io, done: (code: number) => void): void {
  program
    .command("completion")
    .description("print a script that completes command lines in a shell")
    .addArgument(new Argument("<shell>", "the shell").choices(shells))
    .addHelpText("after", examples("completion bash", "completion fish"))
    .action((shell: Shell) => {
      io.out(scripts[shell](program))
      done(Exit.Ok)
    })
}

/** What completion needs to know of one command. */
interface Completed {
  name: string
  description: string
  flags: Option[]
  /** The words that its argument may be; empty for files and texts. */
  words: string[]
}

function commandsOf(program: Command): Completed[] {
  return program.commands.map((command) => ({
    name: command.name(),
    description: command.description(),
    flags: command.options.filter(({ hidden }) => !hidden),
    words: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
  }))
}

function takesValue({ required, optional }: Option): boolean {
  return required || optional
}

function longOf({ long }: Option): string {
  return long ?? ""
}

const scripts: Readonly<Record<Shell, (program: Command) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
}

/**
 * After a flag with choices come its choices, after any other flag with a value files; elsewhere
 * flags after a dash, and files or the words of the argument.
 */
function bashScript(program: Command): string {
  const commands = commandsOf(program)
  const cases = commands.map(({ name, flags, words }) => {
    const afters = flags.filter(takesValue).map((flag) => {
      const words = flag.argChoices
        ? `COMPREPLY=($(compgen -W '${flag.argChoices.join(" ")}' -- "$cur"))`
        : ""
      return `        ${longOf(flag)}) ${words === "" ? "" : `${words}; `}return ;;\n`
    })
    const list = [...flags.map(longOf), "--help"].join(" ")
    return `    ${name})
      case "$prev" in
${afters.join("")}      esac
      if [[ "$cur" == -* ]]; then COMPREPLY=($(compgen -W '${list}' -- "$cur"))
      else COMPREPLY=($(compgen -W '${words.join(" ")}' -- "$cur")); fi ;;
`
  })
  return `# Completion of tokenrail in bash: source <(tokenrail completion bash)
_tokenrail() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}"
  COMPREPLY=()
  if (( COMP_CWORD == 1 )); then
    COMPREPLY=($(compgen -W '${commands.map(({ name }) => name).join(" ")} --help --version' -- "$cur"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases.join("")}  esac
}
complete -o default -F _tokenrail tokenrail
`
}

function zshScript(program: Command): string {
  const commands = commandsOf(program)
  const escaped = (text: string) =>
    text
      .replace(/[[\]:\\]/g, "\\$&")
      .replaceAll("'", "’")
      .replaceAll("\n", " ")
  const names = commands.map(({ name, description }) => `    '${name}:${escaped(description)}'\n`)
  const cases = commands.map(({ name, flags, words }) => {
    const specs = flags.map((flag) => {
      const values = flag.argChoices ? `(${flag.argChoices.join(" ")})` : "_files"
      return `      '*${longOf(flag)}[${escaped(flag.description)}]${takesValue(flag) ? `:value:${values}` : ""}' \\\n`
    })
    const rest = words.length > 0 ? `'*:word:(${words.join(" ")})'` : "'*:file:_files'"
    return `    ${name}) _arguments \\\n${specs.join("")}      ${rest} ;;\n`
  })
  return `#compdef tokenrail
# Completion of tokenrail in zsh: source <(tokenrail completion zsh)
_tokenrail() {
  local -a commands=(
${names.join("")}  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=\${words[2]}
  shift words
  (( CURRENT-- ))
  case $command in
${cases.join("")}  esac
}
compdef _tokenrail tokenrail
`
}

function fishScript(program: Command): string {
  const quoted = (text: string) => `'${text.replace(/[\\']/g, "\\$&").replaceAll("\n", " ")}'`
  const lines = commandsOf(program).flatMap(({ name, description, flags, words }) => {
    const within = `complete -c tokenrail -n '__fish_seen_subcommand_from ${name}'`
    return [
      `complete -c tokenrail -n __fish_use_subcommand -f -a ${name} -d ${quoted(description)}`,
      ...(words.length === 0 ? [] : [`${within} -f -a ${quoted(words.join(" "))}`]),
      ...flags.map((flag) => {
        const values = flag.argChoices
          ? ` -x -a ${quoted(flag.argChoices.join(" "))}`
          : takesValue(flag)
            ? " -r"
            : ""
        return `${within} -l ${longOf(flag).slice(2)}${values} -d ${quoted(flag.description)}`
      }),
    ]
  })
  return `# Completion of tokenrail in fish: tokenrail completion fish | source\n${lines.join("\n")}\n`
}
